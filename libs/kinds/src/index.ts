/**
 * The vocabulary: one file a kind, each a single declaration, and the list of all of them.
 *
 *   schema + rules + sync direction → everything the product does with a kind
 */
export { AuthenticationConfiguration, MOST_REVOKED } from './authentication-configuration';
export { ConfigMap, PARAMETERS_KEY } from './config-map';
export { coreKinds } from './core-kinds';
export { Dataplane } from './dataplane';
export { defaultResources } from './default-resources';
export { HostnameGenerator } from './hostname-generator';
export { Mesh } from './mesh';
export { MeshExternalService } from './mesh-external-service';
export { MeshIdentity } from './mesh-identity';
export { MeshMultiZoneService } from './mesh-multi-zone-service';
export { checkMeshParameters, isMeshParameters, MeshParameters, type MeshParametersSpec } from './mesh-parameters';
export { MeshService } from './mesh-service';
export { MeshTrust } from './mesh-trust';
export { MeshZoneAddress } from './mesh-zone-address';
export { Namespace } from './namespace';
export { builtInRoles, Role, verbs } from './role';
export { RoleBinding } from './role-binding';
export { Secret } from './secret';
export { Zone } from './zone';
export { ZoneEgress } from './zone-egress';
export { ZoneIngress } from './zone-ingress';
