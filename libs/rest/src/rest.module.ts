import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { DocsController } from './controllers/docs.controller';
import { DoctorController } from './controllers/doctor.controller';
import { InspectionController } from './controllers/inspection.controller';
import { ServerController } from './controllers/server.controller';
import { ResourceController } from './controllers/resource.controller';
import { SyncDecisionsController } from './controllers/sync-decisions.controller';
import { ZoneAccessController } from './controllers/zone-access.controller';
import { ProblemFilter } from './http/problem.filter';
import {
  EVENT_ENCODER,
  FACTS,
  INSPECTIONS,
  OPENAPI,
  READS,
  SYNC_ANSWERS,
  WATCHES,
  WRITES,
  ZONE_ANSWERS,
} from './tokens';
import type { RestServices } from './rest-services';

/** In the order in which routes are looked for: those of kinds last. */
const CONTROLLERS = [
  DocsController,
  ServerController,
  InspectionController,
  DoctorController,
  ZoneAccessController,
  SyncDecisionsController,
  ResourceController,
] as const;

/** The REST interface as a Nest module; what it works with is made by `createRestServices` and only handed over here. */
@Module({})
export class RestModule {
  /** A module over parts that are ready to serve. */
  static register(parts: RestServices): DynamicModule {
    return {
      module: RestModule,
      controllers: [...CONTROLLERS],
      providers: providersOf(parts),
    };
  }
}

function providersOf(parts: RestServices): Provider[] {
  return [
    { provide: READS, useFactory: () => parts.reads },
    { provide: WRITES, useFactory: () => parts.writes },
    { provide: WATCHES, useFactory: () => parts.watches },
    { provide: EVENT_ENCODER, useFactory: () => parts.encoder },
    { provide: FACTS, useFactory: () => parts.server },
    { provide: INSPECTIONS, useFactory: () => parts.inspections },
    { provide: ZONE_ANSWERS, useFactory: () => parts.zoneTokens },
    { provide: SYNC_ANSWERS, useFactory: () => parts.syncDecisions },
    { provide: OPENAPI, useFactory: () => parts.openApi },
    { provide: APP_FILTER, useFactory: () => new ProblemFilter(parts.logger) },
  ];
}
