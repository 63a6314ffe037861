import type { FollowedRoutes } from '@causeway/meshes';
import type { FillRunner } from '@causeway/store';
import type { PolicySource } from '../tables/policy-source';
import type { HostSource } from '../resolution/dialled-hosts';

/** Inputs besides the index, and how it is read. */
export interface EnvoyResourcesOptions {
  /** How everything is derived from the index: at once, or in slices. */
  readonly run: FillRunner;
  /** A change that computes more services than this makes everything be derived anew. */
  readonly maxAtOnce?: number;
  /** The routes of the process; made before what reads them. */
  readonly routes: Pick<FollowedRoutes, 'table' | 'hasLoaded' | 'isCurrent' | 'subscribe'>;
  readonly policies?: PolicySource;
  /** Resolves hosts; without it addresses follow the preset rules, and names have none. */
  readonly hosts?: HostSource;
}
