/**
 * Nodes, routers and services of App Mesh v1beta2, compiled to MeshServices, routes and policies (docs/plans/app-mesh.md).
 *
 *   VirtualNode, VirtualRouter, VirtualService, Dataplanes → AppMeshTable → Compiled: objects to exist, conditions, membership
 *
 * Pure and incremental; it knows no kind, no store and no wire.
 */
export { bindingOf, memberOf, withBinding } from './binding';
export { nodeViolations } from './compile/compile-node';
export { routerViolations } from './compile/compile-router';
export { type Generated } from './compile/generated';
export { sourceKinds, type Member, type Source } from './model';
export { isCovered, suffixFor, suffixProblem } from './name-suffixes';
export { derivedAwsName, nodeServiceName } from './names';
export { AppMeshTable, membershipConflict, type Compiled, type Touched } from './table/app-mesh-table';
export { MEMBERSHIP_CONFLICT } from './table/verdict';
