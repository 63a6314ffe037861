import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { DocsEndpoint } from './endpoints/docs.endpoint';
import { DoctorEndpoint } from './endpoints/doctor.endpoint';
import { InspectionEndpoint } from './endpoints/inspection.endpoint';
import { ServerEndpoint } from './endpoints/server.endpoint';
import { ResourceEndpoint } from './endpoints/resource.endpoint';
import { SyncDecisionsEndpoint } from './endpoints/sync-decisions.endpoint';
import { ZoneAccessEndpoint } from './endpoints/zone-access.endpoint';
import { ProblemFilter } from './http/problem.filter';
import { DOCTOR, FACTS, INSPECTIONS, OPENAPI, READS, SYNC_ANSWERS, WATCHES, WRITES, ZONE_ANSWERS } from './tokens';
import type { RestParts } from './rest-parts';

/** In the order in which routes are looked for: those of kinds last. */
const CONTROLLERS = [
  DocsEndpoint,
  ServerEndpoint,
  InspectionEndpoint,
  DoctorEndpoint,
  ZoneAccessEndpoint,
  SyncDecisionsEndpoint,
  ResourceEndpoint,
] as const;

/** The REST interface as a Nest module; what it works with is made by `assembleRest` and only handed over here. */
@Module({})
export class RestModule {
  /** A module over parts that are ready to serve. */
  static register(parts: RestParts): DynamicModule {
    return {
      module: RestModule,
      controllers: [...CONTROLLERS],
      providers: providersOf(parts),
    };
  }
}

function providersOf(parts: RestParts): Provider[] {
  return [
    { provide: READS, useFactory: () => parts.reads },
    { provide: WRITES, useFactory: () => parts.writes },
    { provide: WATCHES, useFactory: () => parts.watches },
    { provide: FACTS, useFactory: () => parts.facts },
    { provide: INSPECTIONS, useFactory: () => parts.inspections },
    { provide: ZONE_ANSWERS, useFactory: () => parts.zoneAnswers },
    { provide: SYNC_ANSWERS, useFactory: () => parts.syncAnswers },
    { provide: DOCTOR, useFactory: () => parts.doctor },
    { provide: OPENAPI, useFactory: () => parts.openApi },
    { provide: APP_FILTER, useFactory: () => new ProblemFilter(parts.logger) },
  ];
}
