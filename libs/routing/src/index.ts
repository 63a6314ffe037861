/** Evaluation of requests against routes (libs/routing/README.md). */
export { type Destination } from './binding/backend';
export { portKey, type Binding, type Entry } from './binding/binding';
export { foreignReference, NO_NAMESPACE, serviceFrontend, type Frontend } from './binding/frontend';
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
export { listPlaces, type Place } from './binding/places';
export {
  connectionAction,
  ruleAction,
  type MirrorAction,
  type RuleAction,
  type WeightedBackend,
} from './binding/rule-action';
export { RouteTable, type Client } from './binding/route-table';
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
export { type IsReady, type Outcome, type Question, type Share } from './requests/evaluate';
export { explain, type Explanation } from './requests/explain';
export { TooCostly, type Request } from './rules/request';
export { methods, pathMatchTypes, valueMatchTypes } from './rules/compiled-match';
export { looksIntoRequests, ruleViolations, type CompiledRoute, type CompiledRule } from './rules/compiled-route';
export { compileExpression } from './rules/regular-expression';
export { filterTypes, pathChangeTypes, redirectSchemes, redirectStatusCodes } from './rules/filter-rules';
