import type { FollowedRoutes } from '@causeway/meshes';
import type { FillRunner } from '@causeway/store';
import type { PolicySource } from '../tables/policy-source';
import type { EnvoyView } from '../views/envoy-view';
import type { HostSource } from '../resolution/dialled-hosts';

/** The proxies to which a change is announced: all, unless given. */
export interface AnnouncedTo {
  readonly view?: EnvoyView;
  /** Only the proxies of this Dataplane. */
  readonly group?: string | undefined;
  /** The first revision that holds one of the changes; without it they are of no revision of their own. */
  readonly since?: number;
}

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
