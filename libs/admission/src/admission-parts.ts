import type { ControlPlane, Registry } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';

/** What admission works with. */
export interface AdmissionParts {
  readonly registry: Registry;
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly controlPlane: ControlPlane;
  readonly clock: Clock;
  /** True if an operator token is configured: kinds with writer `operator` then need it. */
  readonly operatorToken: boolean;
}
