/** What the Meshes mean at this control plane (libs/meshes/README.md). */
export { KEPT_AT_UPGRADE, meshSuffixes, namesHere, otherGiver, suffixesIn, type Giver } from './app-mesh-names';
export { DEFAULT_MAX_CONNECTION_AGE, meshAccess, mtlsModeOf, type MeshAccess, type MtlsMode } from './access';
export { DeclaredKinds, kindsOf } from './declared-kinds';
export { FEATURES, isFeatureEnabled, supportedFeatures, type Feature } from './features';
export {
  accepting,
  KINDS_MADE_FOR_MESH,
  designate,
  isMadeForMesh,
  isTerminating,
  MADE_WITH_MESH,
  type Designation,
  type MeshMembership,
  type MeshOwner,
} from './membership';
export {
  DEFAULT_MESH_OWNER,
  Meshes,
  type MeshesOptions,
  type MeshMismatch,
  type MeshState,
  type ZoneRanges,
} from './meshes';
export { FollowedPolicies, type FollowedPoliciesOptions, type PoliciesChange } from './policies/followed-policies';
export { MeshPolicies, type MeshPoliciesOptions } from './policies/mesh-policies';
export { PendingKinds } from './pending-kinds';
export { PendingMeshes } from './pending-meshes';
export { type ParseText } from './parameters';
export { FollowedRoutes, type FollowedRoutesOptions, type RoutesChange } from './routes/followed-routes';
export { MeshRoutes, type MeshRoutesOptions } from './routes/mesh-routes';
