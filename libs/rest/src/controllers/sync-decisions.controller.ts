import { Body, Controller, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import type { Confirmation, Queries, ZoneAdoption } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import { Access } from '../http/access.guard';
import { BodySizeGuard, ObjectBodyPipe } from '../http/body.pipes';
import { NoQuery } from '../requests/decorators';
import { QUERIES } from '../rest-dependencies';

/** Decisions about sync. */
@Controller()
@Access({ verb: 'create', kinds: ['SyncDecision'] })
@NoQuery()
@UseGuards(BodySizeGuard)
export class SyncDecisionsController {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  @Post('/zones/:name/_confirm')
  @HttpCode(200)
  confirmZone(@Param('name') zone: string): Promise<Confirmation> {
    return this.queries.decisions.confirmZone(zone);
  }

  /** Without a body the store that was refused last is adopted. */
  @Post('/zones/:name/_adopt')
  @HttpCode(200)
  adoptZone(
    @Param('name') zone: string,
    @Body(new ObjectBodyPipe(['storeId'], { optional: true })) { storeId }: JsonObject,
  ): Promise<ZoneAdoption> {
    return this.queries.decisions.adoptZone(zone, storeId);
  }

  @Post('/zones/:name/_reset-epoch')
  @HttpCode(200)
  resetEpoch(@Param('name') zone: string): ReturnType<Queries['decisions']['resetEpoch']> {
    return this.queries.decisions.resetEpoch(zone);
  }

  @Post('/global/_confirm')
  @HttpCode(200)
  confirmGlobal(): Promise<Confirmation> {
    return this.queries.decisions.confirmGlobal();
  }
}
