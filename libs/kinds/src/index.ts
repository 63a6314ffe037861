/** The vocabulary: one file for each kind (libs/kinds/README.md). */
export { MeshNaming, MOST_SUFFIXES } from './mesh-naming';
export { AuthenticationConfiguration, MOST_REVOKED } from './authentication-configuration';
export { ConfigMap, PARAMETERS_KEY } from './config-map';
export { coreKinds } from './core-kinds';
export { Dataplane } from './dataplane';
export { declaredKind, undeclaredKind } from './declared/declared-kind';
export {
  DefinitionJudge,
  MOST_DECLARED_KINDS,
  type DefinitionParts,
  type JudgedDefinition,
} from './declared/judge-definitions';
export { defaultResources } from './default-resources';
export {
  Enrolment,
  ENROLMENT_EPOCH,
  EnrolmentEpoch,
  MOST_ENDED_ENROLMENTS,
  MOST_ENROLMENT_TOKENS,
  WorkloadRevocation,
  type EnrolmentSpec,
  type WorkloadRevocationSpec,
} from './enrolment';
export { Gateway } from './gateway';
export { GRPCRoute } from './grpc-route';
export { HostnameGenerator } from './hostname-generator';
export { HTTPRoute } from './http-route';
export {
  IDENTITY_PATH_STATE,
  IdentityPath,
  IdentityPathState,
  MOST_NAMESPACES_SHARING,
  MOST_SHARED_IDS,
  MOST_STATE_NAMESPACES,
  type IdentityPathStateSpec,
} from './identity-path';
export { Mesh } from './mesh';
export { foreignServiceAddress, foreignServiceAddresses, isOwnServiceAddress } from './schema/service-addresses';
export { MeshExternalService } from './mesh-external-service';
export { MeshIdentity } from './mesh-identity';
export { MeshMultiZoneService } from './mesh-multi-zone-service';
export { checkMeshParameters, isMeshParameters, MeshParameters, type MeshParametersSpec } from './mesh-parameters';
export { MeshService } from './mesh-service';
export { MeshTrust } from './mesh-trust';
export { MeshZoneAddress } from './mesh-zone-address';
export {
  canBeQualified,
  declaredName,
  declaredNames,
  isQualifiedName,
  MetaresourceDefinition,
  type MetaresourceDefinitionSpec,
} from './metaresource-definition';
export { Namespace } from './namespace';
export { ReferenceGrant } from './reference-grant';
export { builtInRoles, Role, verbs } from './role';
export { RoleBinding } from './role-binding';
export { MOST_COUNTED_ROUTES, RouteInsight, type RouteInsightSpec } from './route-insight';
export { Secret } from './secret';
export { KINDS_WITH_SECRETS, secretReferences, type SecretReference } from './secret-references';
export { certificateBlocks, privateKeyBlocks } from './schema/certificate-rules';
export { decodedPem, withSourcesIn, type SourceForm } from './schema/certificate-source';
export { namesUser } from './schema/secret-users';
export {
  clientKeySource,
  readExternalTrust,
  unreadableTrust,
  type AltName,
  type ExternalProblem,
  type ExternalTls,
  type SecretAnswer,
  type SecretLookup,
  type ServerCheck,
  type TlsVersion,
} from './stored/external-tls';
export { KEPT_USERS, secretsNamed, secretUsers } from './stored/secrets-named';
export { servicePorts, type ServicePort } from './stored/service-ports';
export { foreignReferences } from './stored/foreign-references';
export { storedSource } from './stored/stored-app-mesh';
export { storedGateway, storedGrant, storedRoute, storedService } from './stored/stored-routing';
export { protocols } from './schema/schema-parts';
export { TCPRoute } from './tcp-route';
export { TLSRoute } from './tls-route';
export { UDPRoute } from './udp-route';
export { VirtualNode, type VirtualNodeSpec } from './virtual-node';
export { VirtualRouter, type VirtualRouterSpec } from './virtual-router';
export { VirtualService, type VirtualServiceSpec } from './virtual-service';
export { Zone } from './zone';
export { ZoneEgress } from './zone-egress';
export { ZoneIngress } from './zone-ingress';
