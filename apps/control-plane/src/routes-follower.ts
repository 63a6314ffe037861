import { Inject, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { FollowedRoutes, type Meshes } from '@causeway/meshes';
import { ownZone } from '@causeway/resources';
import { orAborted } from '@causeway/runtime';
import { fillInSlices, type IndexReader } from '@causeway/store';
import { CORE, type ControlPlaneCore } from './core.module';

/** The `FollowedRoutes` of this replica: which routes are bound to which services. */
export const ROUTES = Symbol('FollowedRoutes');

/** Makes the table of routes; it is derived in slices, so that the event loop is not held. */
export function followRoutes(core: ControlPlaneCore, index: IndexReader, meshes: Meshes): FollowedRoutes {
  const { cp, clock, logger, shutdown: signal } = core;
  const zone = ownZone(cp);
  return new FollowedRoutes({
    index,
    meshes,
    zone,
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
