import type { Logger } from '@causeway/runtime';
import { DEFAULT_LIMITS, type Insights, type RestDependencies, type RestLimits } from './rest-dependencies';
import { BodyParser } from './http/body-parser';
import { Gate } from './http/gate';
import { RequestSignals } from './http/request-signals';
import { CallerAuthorizer } from './http/caller-authorizer';
import { RouteGuard } from './http/route-guard';
import { RouteTable } from './http/route-table';
import { Doctor } from './inspect/doctor';
import { Inspections } from './inspect/inspections';
import { NamingAnswers } from './inspect/naming-answers';
import { Overviews } from './inspect/overviews';
import { ServerFacts } from './inspect/server-facts';
import { openApiDocument } from './openapi/open-api-document';
import { Freshness } from './read/freshness';
import { Lister } from './read/lister';
import { SortedIndex } from './read/sorted-index';
import { ResourceReads, type ReadParts } from './read/resource-reads';
import { ResourceJson } from './read/resource-json';
import { Watches } from './watch/watches';
import { ResourceWrites } from './write/resource-writes';
import { SyncAnswers } from './zones/sync-answers';
import { ZoneAnswers } from './zones/zone-answers';

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
  readonly watches: Watches;
  readonly facts: ServerFacts;
  readonly inspections: Inspections;
  readonly zoneAnswers: ZoneAnswers;
  readonly syncAnswers: SyncAnswers;
  readonly doctor: Doctor;
  /** The OpenAPI document as text. */
  readonly openApi: string;
  /** Stops following the index, and gives up what is under way. */
  readonly close: () => void;
}

/** Requests that look at very much: tables of hostnames, explanations, consequences of dry runs. */
const EXPENSIVE_LIMITS = { most: 8, waiting: 64 } as const;

/** Builds everything behind the endpoints; it follows the index until `close`. */
export function createRestServices(deps: RestDependencies): RestServices {
  const { registry, cp, index, store, admission, clock, logger, program } = deps;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const access = new CallerAuthorizer(deps.access);
  const freshness = new Freshness(index, store, { clock, longest: limits.revisionWait });
  const orders = new SortedIndex(index);
  const parts = {
    registry,
    cp,
    index,
    freshness,
    lister: new Lister(index, orders),
    texts: new ResourceJson(registry),
    requestSignals: new RequestSignals(clock, limits.requestTimeout),
    costly: new Gate(EXPENSIVE_LIMITS),
  };
  const bodies = new BodyParser(limits, parts.requestSignals, clock);
  const reads = new ResourceReads(parts);
  const watches = new Watches({ ...parts, store, clock, limits });
  const stops = [() => watches.close(), () => parts.requestSignals.close(), freshness.follow(), orders.follow()];
  return {
    limits,
    logger,
    routes: new RouteTable(registry),
    guard: new RouteGuard(access, registry),
    reads,
    writes: new ResourceWrites({ ...parts, admission, access, bodies, insights: deps.insights ?? {} }),
    watches,
    facts: new ServerFacts({ registry, cp, index, program, access, reads }),
    inspections: assembleInspections(parts, reads, deps.insights ?? {}),
    zoneAnswers: new ZoneAnswers({ zoneAccess: deps.zoneAccess }),
    syncAnswers: new SyncAnswers({ decisions: deps.syncDecisions ?? {} }),
    doctor: new Doctor({ registry, index, requestSignals: parts.requestSignals, insights: deps.insights ?? {} }),
    openApi: JSON.stringify(openApiDocument(registry, program.version)),
    requestSignals: parts.requestSignals,
    bodies,
    close: () => stops.forEach((stop) => stop()),
  };
}

function assembleInspections(parts: ReadParts, reads: ResourceReads, insights: Insights): Inspections {
  return new Inspections(
    parts,
    reads,
    new Overviews(parts, reads, insights),
    new NamingAnswers(parts, reads, insights),
  );
}
