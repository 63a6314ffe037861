import type { AccessPolicy } from '@causeway/access';
import type { Meshes } from '@causeway/meshes';
import type { ControlPlane, Registry } from '@causeway/resources';
import type { Clock, Tracer } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';
import type { LeaseLookup } from './leased-dataplanes';

/** Dependencies of admission. */
export interface AdmissionParts {
  readonly registry: Registry;
  readonly store: ResourceStore;
  readonly index: IndexReader;
  /** State of each mesh at this control plane; of the same index. */
  readonly meshes: Meshes;
  readonly controlPlane: ControlPlane;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
  /** Decides who may write (docs/design.md §6 Roles). */
  readonly access: Pick<AccessPolicy, 'authorise' | 'may'>;
  /** Names the holders of leased Dataplanes where a write is refused for their sake; absent: by their instances alone. */
  readonly leases?: LeaseLookup | undefined;
}
