import { Inject, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { FollowedRoutes, type Meshes } from '@causeway/meshes';
import { ownZone } from '@causeway/resources';
import { injectionToken, orAborted } from '@causeway/runtime';
import { fillInSlices, type IndexReader } from '@causeway/store';
import { CORE, type ControlPlaneCore } from '../core.module';

/** The `FollowedRoutes` of this replica: the bindings of routes to services. */
export const ROUTES = injectionToken<FollowedRoutes>('FollowedRoutes');

/** Dependencies of the table of routes. */
interface RouteSources {
  readonly core: ControlPlaneCore;
  readonly index: IndexReader;
  readonly meshes: Meshes;
}

/** Creates the table of routes; filled in slices, so that the event loop is not blocked. */
export function followRoutes({ core, ...sources }: RouteSources): FollowedRoutes {
  const { cp, clock, logger, shutdown: signal } = core;
  return new FollowedRoutes({
    ...sources,
    zone: ownZone(cp),
    run: fillInSlices({ clock, logger, signal, failure: 'the routes cannot be read' }),
  });
}

/** Delays the start until routes are loaded, and follows them until all their readers have ended. */
export class RoutesFollower implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(CORE) private readonly core: ControlPlaneCore,
    @Inject(ROUTES) private readonly routes: FollowedRoutes,
  ) {}

  async onModuleInit(): Promise<void> {
    await orAborted(this.routes.whenLoaded(), this.core.shutdown);
  }

  onApplicationShutdown(): void {
    this.routes.close();
  }
}
