import { Inject, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { FollowedPolicies, type FollowedRoutes, type Meshes } from '@causeway/meshes';
import { injectionToken, orAborted } from '@causeway/runtime';
import { fillInSlices, type IndexReader } from '@causeway/store';
import { CORE, type ControlPlaneCore } from '../core.module';

/** The `FollowedPolicies` of this replica: which policies hold where, and what they come to. */
export const POLICIES = injectionToken<FollowedPolicies>('FollowedPolicies');

/** Dependencies of the table of policies. */
interface PolicySources {
  readonly core: ControlPlaneCore;
  readonly index: IndexReader;
  readonly meshes: Meshes;
  readonly routes: FollowedRoutes;
}

/** Makes the table of policies over the routes; it is derived in slices, so that the event loop is not held. */
export function followPolicies({ core, ...sources }: PolicySources): FollowedPolicies {
  const { clock, logger, shutdown: signal } = core;
  return new FollowedPolicies({
    ...sources,
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
