/** Kinds of App Mesh, compiled to MeshServices, routes and policies (libs/appmesh/README.md). */
export { readBinding, toMember, withBinding } from './binding';
export { nodeViolations } from './compile/compile-node';
export { routerViolations } from './compile/compile-router';
export { type Generated } from './compile/generated';
export { sourceKinds, type Member, type VirtualSource } from './model';
export { isCovered, suffixFor, suffixProblem } from './name-suffixes';
export { deriveAwsName, nodeServiceName } from './names';
export { AppMeshTable, membershipConflict, type Compiled, type AppMeshChanges } from './table/app-mesh-table';
export { MEMBERSHIP_CONFLICT } from './table/evaluate-row';
