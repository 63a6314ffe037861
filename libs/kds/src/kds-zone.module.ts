import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { LeaderTerm } from '@causeway/runtime';
import { FirstState, type FirstStateOptions } from './zone/first-state';
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
  readonly firstState: FirstStateOptions;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<KdsZoneOptions>()
  .setClassMethodName('forRoot')
  .build();

/** Every replica looks for the first state: any of them may have stored it. */
class FirstStateLookup implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(@Inject(FirstState) private readonly firstState: FirstState) {}

  onApplicationBootstrap(): void {
    void this.firstState.run();
  }

  beforeApplicationShutdown(): void {
    this.firstState.close();
  }
}

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
    {
      provide: FirstState,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: ({ firstState }: KdsZoneOptions) => new FirstState(firstState),
    },
    FirstStateLookup,
  ],
  exports: [ZONE_SYNC_FACTORY, FirstState],
})
export class KdsZoneModule extends ConfigurableModuleClass {}
