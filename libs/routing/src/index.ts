/** Evaluation of requests against routes (libs/routing/README.md). */
export { type RouteDestination } from './binding/backend';
export { portKey, type Binding, type Entry } from './binding/binding';
export { findReferenceProblem, NO_NAMESPACE, serviceFrontend, type Frontend } from './binding/frontend';
export {
  consumerGroup,
  consumerOfGroup,
  gatewayGroup,
  isGatewayGroup,
  OWN_BACKEND,
  PRODUCER,
  type FrontendGroup,
} from './binding/frontend-group';
export { parentStatuses, ROUTED_BY_XROUTE, type ParentStatus } from './binding/route-status';
export { type ChangeSet } from './binding/change-set';
export { listRouteBindings, type BoundPort } from './binding/route-bindings';
export {
  connectionAction,
  ruleAction,
  type ForwardAction,
  type MirrorAction,
  type RuleAction,
  type WeightedBackend,
} from './binding/rule-action';
export { BindingTable, type Client } from './binding/binding-table';
export {
  routeKinds,
  type AllowedRoutes,
  type Filter,
  type Gateway,
  type HeaderChanges,
  type ReferenceGrant,
  type Route,
  type RouteKind,
  type RouteMatch,
  type RouteRule,
  type RouteSpec,
  type Service,
  type ValueMatch,
} from './model';
export { type IsReady, type RequestOutcome, type RouteQuestion, type Share } from './requests/evaluate';
export { explain, type Explanation } from './requests/explain';
export { TooCostly, type Request } from './rules/request';
export { methods, pathMatchTypes, valueMatchTypes } from './rules/compiled-match';
export { looksIntoRequests, ruleViolations, type CompiledRoute, type CompiledRule } from './rules/compiled-route';
export { compileExpression } from './rules/regular-expression';
export { filterTypes, pathChangeTypes, redirectSchemes, redirectStatusCodes } from './rules/filter-rules';
