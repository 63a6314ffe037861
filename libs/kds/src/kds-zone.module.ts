import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import type { LeaderTerm } from '@causeway/runtime';
import type { ZoneSyncOptions } from './zone/zone-sync-options';
import { createZoneSync, type ZoneSync } from './zone/zone-sync';

/** A `ZoneSyncFactory`. */
export const ZONE_SYNC_FACTORY = Symbol('ZoneSyncFactory');

/** Makes the session with the global for one term of the zone's leader; undefined for a zone without a global. */
export type ZoneSyncFactory = (term: LeaderTerm) => ZoneSync | undefined;

/** How a zone speaks with its global. */
export interface KdsZoneOptions {
  /** Asked at the beginning of each term; undefined for a zone without a global. */
  readonly sync: () => Omit<ZoneSyncOptions, 'term'> | undefined;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<KdsZoneOptions>()
  .setClassMethodName('forRoot')
  .build();

/** The zone's side of sync. Only a leader has a session, so the module gives a factory of sessions and no session. */
@Module({
  providers: [
    {
      provide: ZONE_SYNC_FACTORY,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: ({ sync }: KdsZoneOptions): ZoneSyncFactory => {
        return (term) => {
          const options = sync();
          return options && createZoneSync({ ...options, term });
        };
      },
    },
  ],
  exports: [ZONE_SYNC_FACTORY],
})
export class KdsZoneModule extends ConfigurableModuleClass {}
