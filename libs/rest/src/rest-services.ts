import { createQueries, type EventEncoder, type Queries } from '@causeway/queries';
import type { Logger } from '@causeway/runtime';
import { BodyParser } from './http/body-parser';
import { CallerAuthorizer } from './http/caller-authorizer';
import { RequestSignals } from './http/request-signals';
import { RouteGuard } from './http/route-guard';
import { RouteTable } from './http/route-table';
import { InspectionRequests } from './inspect/inspection-requests';
import { ServerRequests } from './inspect/server-requests';
import { openApiDocument } from './openapi/open-api-document';
import { ResourceReads } from './read/resource-reads';
import { DEFAULT_LIMITS, type RestDependencies, type RestLimits } from './rest-dependencies';
import { eventStreamEncoder } from './watch/server-sent-events';
import { WatchRequests } from './watch/watch-requests';
import { ResourceWrites } from './write/resource-writes';
import { SyncDecisionRequests, ZoneTokenRequests } from './zones/zone-requests';

/** The objects behind the endpoints; plain, so that tests make them without Nest. */
export interface RestServices {
  readonly limits: RestLimits;
  readonly logger: Logger;
  readonly routes: RouteTable;
  readonly guard: RouteGuard;
  readonly requestSignals: RequestSignals;
  readonly bodies: BodyParser;
  readonly reads: ResourceReads;
  readonly writes: ResourceWrites;
  readonly queries: Queries;
  readonly watches: WatchRequests;
  readonly encoder: EventEncoder;
  readonly server: ServerRequests;
  readonly inspections: InspectionRequests;
  readonly zoneTokens: ZoneTokenRequests;
  readonly syncDecisions: SyncDecisionRequests;
  /** The OpenAPI document as text. */
  readonly openApi: string;
  /** Stops following the index, and gives up what is under way. */
  readonly close: () => void;
}

/** Builds everything behind the endpoints; it follows the index until `close`. */
export function createRestServices(deps: RestDependencies): RestServices {
  const { registry, admission, clock, logger, program } = deps;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const queries = createQueries({ ...deps, limits });
  const access = new CallerAuthorizer(deps.access);
  const requestSignals = new RequestSignals(clock, limits.requestTimeout);
  const parts = { registry, queries, requestSignals };
  const bodies = new BodyParser(limits, requestSignals, clock);
  const reads = new ResourceReads(parts);
  return {
    limits,
    logger,
    routes: new RouteTable(registry),
    guard: new RouteGuard(access, registry),
    reads,
    writes: new ResourceWrites({ ...parts, admission, access, bodies }),
    queries,
    watches: new WatchRequests(registry, queries),
    encoder: eventStreamEncoder(queries.json),
    server: new ServerRequests({ queries, access, requestSignals, reads }),
    inspections: new InspectionRequests(parts),
    zoneTokens: new ZoneTokenRequests(queries),
    syncDecisions: new SyncDecisionRequests(queries),
    openApi: JSON.stringify(openApiDocument(registry, program.version)),
    requestSignals,
    bodies,
    close: () => {
      queries.close();
      requestSignals.close();
    },
  };
}
