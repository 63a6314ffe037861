import type { ResourceKey } from '@causeway/resources';
import type { DataplaneResource } from '@causeway/dataplanes';
import type { IndexChange } from '@causeway/store';
import type { Destination } from './destination';

/** A destination that came, changed or went. */
export interface DestinationChange {
  readonly name: string;
  readonly before: Destination | undefined;
  readonly after: Destination | undefined;
}

/** The changes of one event. */
export interface ModelChange {
  readonly destinations: readonly DestinationChange[];
  /** Zones whose addresses changed, for one mesh. */
  readonly zones: readonly {
    readonly mesh: string;
    readonly zone: string;
    /** The services that are reached there, by identity key. */
    readonly dependents: ReadonlySet<ResourceKey>;
  }[];
  /** Meshes whose trust changed. */
  readonly trust: readonly string[];
  /** Meshes to which access changed. */
  readonly access: readonly string[];
  /** Dataplanes whose inbounds may let in others than before, by AccessPolicies; one may be named twice. */
  readonly restricted: Iterable<DataplaneResource>;
  /** Dataplanes of this zone that came, changed or went. */
  readonly dataplanes: readonly IndexChange[];
}

/** Nothing. */
export const NO_CHANGE: ModelChange = {
  destinations: [],
  zones: [],
  trust: [],
  access: [],
  restricted: [],
  dataplanes: [],
};
