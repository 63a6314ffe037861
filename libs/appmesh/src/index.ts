/** Kinds of App Mesh, compiled to MeshServices, routes and policies (libs/appmesh/README.md). */
export { bindingOf, memberOf, withBinding, type Binding } from './binding';
export { nodeViolations } from './compile/compile-node';
export { routerViolations } from './compile/compile-router';
export { type Generated } from './compile/generated';
export {
  APP_MESH_GROUP,
  listenerProtocols,
  sourceKinds,
  type Member,
  type Reachable,
  type Source,
  type SourceKind,
  type VirtualNodeSpec,
  type VirtualRouterSpec,
  type VirtualServiceSpec,
} from './model';
export { isCovered, suffixFor, suffixProblem, type Unnamed } from './name-suffixes';
export { derivedAwsName, nodeServiceName } from './names';
export { AppMeshTable, membershipConflict, type Compiled, type Touched } from './table/app-mesh-table';
export { MEMBERSHIP_CONFLICT } from './table/verdict';
