/**
 * The vocabulary: one file a kind, each a single declaration, and the list of all of them.
 *
 *   schema + rules + sync direction → everything the product does with a kind
 */
export { AuthenticationConfiguration, MOST_REVOKED } from './authentication-configuration';
export { coreKinds } from './core-kinds';
export { Dataplane } from './dataplane';
export { defaultResources } from './default-resources';
export { HostnameGenerator } from './hostname-generator';
export { Mesh } from './mesh';
export { MeshExternalService } from './mesh-external-service';
export { MeshMultiZoneService } from './mesh-multi-zone-service';
export { MeshService } from './mesh-service';
export { builtInRoles, Role, verbs } from './role';
export { RoleBinding } from './role-binding';
export { Zone } from './zone';
