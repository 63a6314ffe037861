import type { AccessPolicy } from '@causeway/access';
import type { Meshes } from '@causeway/meshes';
import type { ControlPlane, Registry } from '@causeway/resources';
import type { Clock, Tracer } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';
import type { LeaseLookup } from './leased-dataplanes';

/** Returns whether a zone has a session with this global, on any replica. Throws Unavailable. */
type ZoneLiveness = (zone: string) => Promise<boolean>;

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
   * Writes what creates resources, together with what the control loops give to them, such as the availability and the address of a service: other
   * zones receive it complete. If absent, `store` writes it, and the loops write the rest.
   */
  readonly creations?: Pick<ResourceStore, 'write'> | undefined;
  /** Source of the holders of leased Dataplanes, for refusals; if absent, these name only the instances. */
  readonly leases?: LeaseLookup | undefined;
  /** A zone that is online is deleted by force only; if absent, as any resource. */
  readonly isZoneOnline?: ZoneLiveness | undefined;
}
