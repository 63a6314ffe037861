import { Inject, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { FollowedRoutes, type Meshes } from '@causeway/meshes';
import { ownZone } from '@causeway/resources';
import { injectionToken, orAborted } from '@causeway/runtime';
import { fillInSlices, type IndexReader } from '@causeway/store';
import { CORE, type ControlPlaneCore } from '../core.module';

/** The `FollowedRoutes` of this replica: which routes are bound to which services. */
export const ROUTES = injectionToken<FollowedRoutes>('FollowedRoutes');

/** Dependencies of the table of routes. */
interface RouteSources {
  readonly core: ControlPlaneCore;
  readonly index: IndexReader;
  readonly meshes: Meshes;
}

/** Makes the table of routes; it is derived in slices, so that the event loop is not held. */
export function followRoutes({ core, ...sources }: RouteSources): FollowedRoutes {
  const { cp, clock, logger, shutdown: signal } = core;
  return new FollowedRoutes({
    ...sources,
    zone: ownZone(cp),
    run: fillInSlices({ clock, logger, signal, failure: 'the routes cannot be read' }),
  });
}

/** The start waits until routes are known; they are followed until everything that reads them has ended. */
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
