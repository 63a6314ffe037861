import { enrolledDataplane, enrolmentEpochId } from '@causeway/identity';
import { Enrolment, EnrolmentEpoch, WorkloadRevocation } from '@causeway/kinds';
import type { Resource } from '@causeway/resources';
import { splitIntoBatches, inTimedSlices, type Clock, type LeaderTerm, type Logger } from '@causeway/runtime';
import type { Change, IndexReader, ResourceStore } from '@causeway/store';

export interface EnrolmentMaintenanceOptions {
  readonly zone: string;
  readonly index: IndexReader;
  readonly store: Pick<ResourceStore, 'write'>;
  readonly term: LeaderTerm;
  /** Maximum validity of certificates, ms. */
  readonly validity: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const MAX_BATCH_SIZE = 500;

/**
 * Maintains a zone's enrolments. Records that the store was restored, and deletes what is obsolete: revocations whose last certificate has expired,
 * group members that have been gone for longer than a certificate is valid, and enrolments that came back by an import and were not confirmed.
 */
export class EnrolmentMaintenance {
  constructor(private readonly options: EnrolmentMaintenanceOptions) {}

  /** Runs one pass. Throws Unavailable, Fenced. */
  async turn(): Promise<void> {
    const { store, term, clock, logger } = this.options;
    const changes: Change[] = [...this.epochChange()];
    await inTimedSlices(
      this.eachOver((resource) => changes.push(deletion(resource))),
      { clock, signal: term.signal },
    );
    for (const batch of splitIntoBatches(changes, MAX_BATCH_SIZE))
      await store.write({ changes: batch, onRefusal: 'skip', fence: term });
    if (changes.length > 0) logger.debug('enrolments were updated', { changes: changes.length });
  }

  /** The store has another incarnation than at the last pass: it was restored, and may have lost enrolments. */
  private *epochChange(): Iterable<Change> {
    const { index, zone, clock } = this.options;
    const epoch = index.get(enrolmentEpochId(zone));
    const incarnation = index.point?.incarnation;
    if (!epoch || !EnrolmentEpoch.is(epoch) || incarnation === undefined || epoch.spec.incarnation === incarnation)
      return;
    const { id, revision, labels, spec } = epoch;
    const restored = spec.incarnation === undefined ? {} : { restoredAt: clock.now() };
    yield { type: 'put', id, expect: revision, labels, spec: { ...spec, incarnation, ...restored } };
  }

  private *eachOver(found: (resource: Resource) => void): Generator<undefined> {
    const { index, zone } = this.options;
    for (const resource of index.ofKind(WorkloadRevocation.name)) {
      if (resource.id.zone === zone && this.isOver(resource)) found(resource);
      yield;
    }
    for (const resource of index.ofKind(Enrolment.name)) {
      if (resource.id.zone === zone && this.isAbandoned(resource)) found(resource);
      yield;
    }
  }

  private isOver(resource: Resource): boolean {
    const now = this.options.clock.now();
    return WorkloadRevocation.is(resource) && resource.spec.ended.every(({ until }) => until <= now);
  }

  private isAbandoned(resource: Resource): boolean {
    const { index, clock, validity } = this.options;
    if (!Enrolment.is(resource)) return false;
    const { group, confirmBefore } = resource.spec;
    const now = clock.now();
    if (confirmBefore !== undefined && confirmBefore <= now) return true;
    const dataplane = enrolledDataplane(resource.id);
    if (group === undefined || index.get(dataplane)) return false;
    const left = index.tombstone(dataplane)?.deletedAt ?? resource.modifiedAt;
    return left + 2 * validity <= now;
  }
}

function deletion({ id, revision }: Resource): Change {
  return { type: 'delete', id, expect: revision };
}
