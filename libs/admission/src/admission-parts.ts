import type { AccessPolicy } from '@causeway/access';
import type { Meshes } from '@causeway/meshes';
import type { ControlPlane, Registry } from '@causeway/resources';
import type { Clock, Tracer } from '@causeway/runtime';
import type { IndexReader, PutChange, ResourceStore } from '@causeway/store';
import type { LeaseLookup } from './leased-dataplanes';

/** Dependencies of admission. */
export interface AdmissionParts {
  readonly registry: Registry;
  readonly store: ResourceStore;
  readonly index: IndexReader;
  /** State of each mesh at this control plane; from the same index. */
  readonly meshes: Meshes;
  readonly controlPlane: ControlPlane;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
  /** Authorises writes (docs/design.md §6 Roles). */
  readonly access: Pick<AccessPolicy, 'authorise' | 'may'>;
  /**
   * Returns a put with the fields that control loops derive for the resource that it creates, such as the availability of a service: other zones
   * receive it without waiting for a write of the loops. If absent, the loops write them.
   */
  readonly withDerivedFields?: ((put: PutChange) => PutChange) | undefined;
  /** Source of the holders of leased Dataplanes, for refusals; if absent, these name only the instances. */
  readonly leases?: LeaseLookup | undefined;
}
