/**
 * The REST interface of a control plane: one generic endpoint for every kind of the registry, OpenAPI made from it,
 * and one filter that turns every failure into a problem document.
 *
 *   request → endpoint → reads (index) | writes (Admission → store) → answer
 */
export { type RegisteredRoute } from './http/route-table';
export { type WatchMetrics } from './watch/watches';
export { createRestServer, type RestServer } from './rest-server';
export {
  DEFAULT_LIMITS,
  type DnsQuestion,
  type DraftedResource,
  type HostnameQuestion,
  type Insights,
  type ProgramFacts,
  type RestAccess,
  type RestDependencies,
  type RestLimits,
} from './rest-dependencies';
export { type AcceptedIncarnation, type SyncDecisions, type ZoneAdoption } from './zones/sync-decisions';
export { type ZoneAccess, type ZoneTokenResponse, type ZoneTokenParameters } from './zones/zone-access';
