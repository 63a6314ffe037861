import type { FollowedRoutes } from '@causeway/meshes';
import type { FillRunner } from '@causeway/store';
import type { PolicySource } from '../tables/policy-source';
import type { EnvoyView } from '../views/envoy-view';
import type { HostSource } from '../resolution/dialled-hosts';

/** The proxies to which a change is announced; by default all. */
export interface AnnouncedTo {
  readonly view?: EnvoyView;
  /** Only the proxies of this Dataplane. */
  readonly group?: string | undefined;
  /** The first revision that contains one of the changes; absent if the changes have no revision. */
  readonly since?: number;
}

/** Inputs besides the index, and the way in which the index is read. */
export interface EnvoyResourcesOptions {
  /** Runs the derivation from the index: at once, or in slices. */
  readonly run: FillRunner;
  /** A change that recomputes more services than this triggers a full derivation. */
  readonly maxAtOnce?: number;
  /** The routes of the process; created before the tables that read them. */
  readonly routes: Pick<FollowedRoutes, 'table' | 'hasLoaded' | 'isCurrent' | 'subscribe'>;
  readonly policies?: PolicySource;
  /** Resolves hosts; without it addresses follow the default dial rules, and names have none. */
  readonly hosts?: HostSource;
}
