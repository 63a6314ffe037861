import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { injectionToken, provideFrom, type LeaderTerm } from '@causeway/runtime';
import { FirstState, type FirstStateOptions } from './zone/first-state';
import type { ZoneSyncOptions } from './zone/zone-sync-options';
import { createZoneSync, type ZoneSync } from './zone/zone-sync';

/** A `ZoneSyncFactory`. */
export const ZONE_SYNC_FACTORY = injectionToken<ZoneSyncFactory>('ZoneSyncFactory');

/** Creates the session with the global for one term of the zone's leader; undefined for a zone without a global. */
export type ZoneSyncFactory = (
  term: LeaderTerm,
  writeCopies: NonNullable<ZoneSyncOptions['writeCopies']>,
) => ZoneSync | undefined;

/** Sync options of a zone. */
export interface KdsZoneOptions {
  /** Called at the beginning of each term; undefined for a zone without a global. */
  readonly sync: () => Omit<ZoneSyncOptions, 'term' | 'writeCopies'> | undefined;
  readonly firstState: FirstStateOptions;
}

const OPTIONS = injectionToken<KdsZoneOptions>('KdsZoneOptions');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<KdsZoneOptions>({ optionsInjectionToken: OPTIONS })
  .setClassMethodName('forRoot')
  .build();

/** Polls for the first state on every replica, since any of them may have stored it. */
class FirstStateLookup implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(@Inject(FirstState) private readonly firstState: FirstState) {}

  onApplicationBootstrap(): void {
    void this.firstState.run();
  }

  beforeApplicationShutdown(): void {
    this.firstState.close();
  }
}

/** The zone's side of sync. Only a leader has a session, so the module provides a factory of sessions. */
@Module({
  providers: [
    provideFrom(ZONE_SYNC_FACTORY, { options: OPTIONS }, ({ options: { sync } }) => (term, writeCopies) => {
      const options = sync();
      return options && createZoneSync({ ...options, term, writeCopies });
    }),
    provideFrom(FirstState, { options: OPTIONS }, ({ options }) => new FirstState(options.firstState)),
    FirstStateLookup,
  ],
  exports: [ZONE_SYNC_FACTORY, FirstState],
})
export class KdsZoneModule extends ConfigurableModuleClass {}
