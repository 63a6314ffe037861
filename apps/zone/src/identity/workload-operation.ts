import type { DataplaneTokens } from '@causeway/access';
import type { ControlPlaneCore } from '@causeway/control-plane';
import { WorkloadRevoker, type RevocationPlan } from '@causeway/controllers';
import { findEnrolment, putEnrolment } from '@causeway/identity';
import type { WorkloadAccess } from '@causeway/queries';
import { Conflict, describeIdentity, NotFound, type Identity } from '@causeway/resources';
import { waitUntilReached, type IndexReader, type ResourceStore } from '@causeway/store';
import type { ZoneSettings } from '../config';

export interface WorkloadOperationOptions {
  readonly core: ControlPlaneCore<ZoneSettings>;
  readonly index: IndexReader;
  readonly store: ResourceStore;
  readonly tokens: DataplaneTokens['tokens'];
  /** Reports whether this replica has a session with the global; undefined if another one leads, and without a global. */
  readonly isConnected: () => boolean | undefined;
}

/** Ends enrolments for operators. */
export class WorkloadOperation implements WorkloadAccess {
  readonly zone: string;
  private readonly revoker: WorkloadRevoker;

  constructor(private readonly options: WorkloadOperationOptions) {
    const { core, index, store, tokens, isConnected } = options;
    const { cp, clock, logger, settings } = core;
    this.zone = settings.CAUSEWAY_ZONE_NAME;
    this.revoker = new WorkloadRevoker({
      cp,
      clock,
      logger,
      index,
      store,
      tokens,
      isConnected,
      zone: this.zone,
      validity: settings.CAUSEWAY_WORKLOAD_CERT_VALIDITY,
    });
  }

  plan(dataplane: Identity): Promise<RevocationPlan> {
    return this.revoker.plan(dataplane);
  }

  revoke(dataplane: Identity, by: string): Promise<RevocationPlan> {
    return this.revoker.revoke(dataplane, by);
  }

  async confirm(dataplane: Identity): Promise<void> {
    const { core, index, store } = this.options;
    const enrolment = findEnrolment(index, dataplane);
    if (!enrolment)
      throw new NotFound(`${describeIdentity(dataplane)} is not enrolled in this zone (causeway workloads)`);
    const { confirmBefore, ...spec } = enrolment.spec;
    if (confirmBefore === undefined) return;
    const change = putEnrolment(dataplane, spec, { cp: core.cp, expect: enrolment.revision });
    const { revision, results } = await store.write({ changes: [change], onRefusal: 'skip' });
    if (results[0]?.type === 'refused') throw new Conflict('somebody else wrote it at the same time; try again');
    await waitUntilReached(index, revision, core.clock);
  }
}
