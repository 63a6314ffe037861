import { Inject, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { FollowedPolicies, type FollowedRoutes, type Meshes } from '@causeway/meshes';
import { injectionToken, orAborted } from '@causeway/runtime';
import { fillInSlices, type IndexReader } from '@causeway/store';
import { CORE, type ControlPlaneCore } from '../core.module';

/** The `FollowedPolicies` of this replica: the scopes of policies, and the effective ones. */
export const POLICIES = injectionToken<FollowedPolicies>('FollowedPolicies');

/** Dependencies of the table of policies. */
interface PolicySources {
  readonly core: ControlPlaneCore;
  readonly index: IndexReader;
  readonly meshes: Meshes;
  readonly routes: FollowedRoutes;
}

/** Creates the table of policies over the routes; filled in slices, so that the event loop is not blocked. */
export function followPolicies({ core, ...sources }: PolicySources): FollowedPolicies {
  const { clock, logger, shutdown: signal } = core;
  return new FollowedPolicies({
    ...sources,
    run: fillInSlices({ clock, logger, signal, failure: 'the policies cannot be read' }),
  });
}

/** Delays the start until policies are loaded, and follows them until all their readers have ended. */
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
