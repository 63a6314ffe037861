import type { ResourceKey } from '@causeway/resources';
import type { DataplaneResource } from '@causeway/dataplanes';
import type { IndexChange } from '@causeway/store';
import type { Destination } from './destination';

/** A destination that was added, changed or removed. */
export interface DestinationChange {
  readonly name: string;
  readonly before: Destination | undefined;
  readonly after: Destination | undefined;
}

/** The changes that one event makes in the model. */
export interface ModelChange {
  readonly destinations: readonly DestinationChange[];
  /** Zones whose addresses changed, for one mesh. */
  readonly zones: readonly {
    readonly mesh: string;
    readonly zone: string;
    /** The services that are reached in this zone, by identity key. */
    readonly dependents: ReadonlySet<ResourceKey>;
  }[];
  /** Meshes whose trust changed. */
  readonly trust: readonly string[];
  /** Meshes whose access changed. */
  readonly access: readonly string[];
  /** Dataplanes whose inbounds may accept other callers than before because of AccessPolicies; one may be listed twice. */
  readonly restricted: Iterable<DataplaneResource>;
  /** Dataplanes of this zone that were added, changed or removed. */
  readonly dataplanes: readonly IndexChange[];
}

/** A change of nothing. */
export const NO_CHANGE: ModelChange = {
  destinations: [],
  zones: [],
  trust: [],
  access: [],
  restricted: [],
  dataplanes: [],
};
