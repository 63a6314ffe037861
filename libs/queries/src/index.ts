/** Reads of a control plane for users (libs/queries/README.md). */
export { AccessReviews } from './inspect/access-review';
export { createQueries, type DataplaneAccess, type Issuers, type Queries, type QuerySources } from './queries';
export { ConcurrencyLimit } from './concurrency-limit';
export { InvalidQuery, Overloaded, WatchExpired } from './errors';
export { parseLabelSelector, type LabelRequirement } from './list/label-selector';
export { targetOfScope, type ListScope, type Selection } from './list/lister';
export { decodeAuditCursor, type AuditRequest } from './audit/audit-queries';
export { decodeCursor, encodeCursor, type PageRequest } from './list/page';
export { type DiscoveryDocument } from './discovery/discovery';
export { HostnameExplainer } from './explain/hostname-explainer';
export { decodeRequestQuestion } from './request-question';
export { type AffectingOptions, type PolicyQuestion } from './policies/policy-queries';
export { type AccessFacts } from './policies/access-verdicts';
export { topologyDot } from './policies/topology-dot';
export { type ListRequest, type ListResult, type ListSnapshot } from './list/resource-queries';
export {
  BookmarkedEvents,
  decodeResumePoint,
  encodedOnce,
  EncodedPuts,
  encodeResumePoint,
  type EncodedEvent,
  type EventEncoder,
  type WatchSink,
} from './watch/watch-event';
export { type WatchMetrics, type WatchRequest } from './watch/watches';
export { type LeadershipInsight } from './inspect/leader-checks';
export { type AgentRival } from './inspect/plane-checks';
export { type DraftedResource, type Insights } from './inspect/insights';
export { type WorkloadAccess } from './workloads/workload-queries';
export { type AuthorityAccess } from './zones/workload-authority';
export { type ZoneAccess } from './zones/zone-tokens';
export { dataplaneInsight } from './inspect/proxies';
