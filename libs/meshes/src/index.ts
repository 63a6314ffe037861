/** State of the Meshes at this control plane, and their membership, routes and policies (libs/meshes/README.md). */
export { KEPT_AT_UPGRADE, meshSuffixes, namesHere, otherGiver, suffixesIn } from './app-mesh-names';
export { findMtlsMode, type MeshAccess, type MtlsMode } from './access';
export { IndexedKinds, getRegistry } from './declared-kinds';
export { supportedFeatures } from './features';
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
export { DEFAULT_MESH_OWNER, Meshes, type MeshMismatch, type MeshState, type ZoneRanges } from './meshes';
export { FollowedPolicies } from './policies/followed-policies';
export { PendingKinds } from './pending-kinds';
export { PendingMeshes } from './pending-meshes';
export { FollowedRoutes } from './routes/followed-routes';
export { MeshRoutes } from './routes/mesh-routes';
