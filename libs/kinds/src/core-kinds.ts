import { Registry } from '@causeway/resources';
import { MeshNaming } from './mesh-naming';
import { AuthenticationConfiguration } from './authentication-configuration';
import { ConfigMap } from './config-map';
import { Dataplane } from './dataplane';
import { Gateway } from './gateway';
import { GlobalSecret } from './global-secret';
import { GRPCRoute } from './grpc-route';
import { HostnameGenerator } from './hostname-generator';
import { HTTPRoute } from './http-route';
import { IdentityPath } from './identity-path';
import { Mesh } from './mesh';
import { MeshExternalService } from './mesh-external-service';
import { MeshIdentity } from './mesh-identity';
import { MeshMultiZoneService } from './mesh-multi-zone-service';
import { MeshParameters } from './mesh-parameters';
import { MeshService } from './mesh-service';
import { MeshTrust } from './mesh-trust';
import { MeshZoneAddress } from './mesh-zone-address';
import { MetaresourceDefinition } from './metaresource-definition';
import { Namespace } from './namespace';
import { ReferenceGrant } from './reference-grant';
import { Role } from './role';
import { RoleBinding } from './role-binding';
import { Secret } from './secret';
import { TCPRoute } from './tcp-route';
import { TLSRoute } from './tls-route';
import { UDPRoute } from './udp-route';
import { VirtualNode } from './virtual-node';
import { VirtualRouter } from './virtual-router';
import { VirtualService } from './virtual-service';
import { Zone } from './zone';
import { ZoneEgress } from './zone-egress';
import { ZoneIngress } from './zone-ingress';

/** All built-in kinds. MetaresourceDefinitions declare further kinds at run time. */
export const coreKinds = new Registry([
  Mesh,
  MeshParameters,
  ConfigMap,
  Namespace,
  Zone,
  Dataplane,
  MeshService,
  MeshMultiZoneService,
  MeshExternalService,
  HostnameGenerator,
  HTTPRoute,
  GRPCRoute,
  TLSRoute,
  TCPRoute,
  UDPRoute,
  Gateway,
  ReferenceGrant,
  VirtualNode,
  VirtualRouter,
  VirtualService,
  MeshNaming,
  MeshIdentity,
  IdentityPath,
  MeshTrust,
  MeshZoneAddress,
  ZoneIngress,
  ZoneEgress,
  Secret,
  GlobalSecret,
  Role,
  RoleBinding,
  AuthenticationConfiguration,
  MetaresourceDefinition,
]);
