import { Inject, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { FollowedPolicies, type FollowedRoutes, type Meshes } from '@causeway/meshes';
import { orAborted } from '@causeway/runtime';
import { fillInSlices, type IndexReader } from '@causeway/store';
import { CORE, type ControlPlaneCore } from './core.module';

/** The `FollowedPolicies` of this replica: which policies hold where, and what they come to. */
export const POLICIES = Symbol('FollowedPolicies');

/** Makes the table of policies over the routes; it is derived in slices, so that the event loop is not held. */
export function followPolicies(
  core: ControlPlaneCore,
  index: IndexReader,
  meshes: Meshes,
  routes: FollowedRoutes,
): FollowedPolicies {
  const { clock, logger, shutdown: signal } = core;
  return new FollowedPolicies({
    index,
    meshes,
    routes,
    run: fillInSlices({ clock, logger, signal, failure: 'the policies cannot be read' }),
  });
}

/** The start waits until policies are known; they are followed until everything that reads them has ended. */
export class PoliciesFollower implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(CORE) private readonly core: ControlPlaneCore,
    @Inject(POLICIES) private readonly policies: FollowedPolicies,
  ) {}

  async onModuleInit(): Promise<void> {
    await orAborted(this.policies.whenLoaded(), this.core.shutdown);
  }

  onApplicationShutdown(): void {
    this.policies.close();
  }
}
