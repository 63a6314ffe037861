import { globalIdentity, identityKey, type Identity } from '@causeway/resources';
import { countedOrder } from './counted-order';
import { Fenced, type Change, type ChangeResult, type WriteRequest, type WriteResult } from '../../src/resource-store';
import { outdatedResults, refusedWrite } from '../../src/refused-write';
import { decideChange, type CopyChange, type WriteDecision } from './decide-change';
import { auditWrite } from './memory-audit';
import { findMoment, type MemoryDisk, type NewestOrder } from './memory-disk';
import type { MemoryRow } from './memory-row';

/** Copies may be ahead of our clock by a day and still advance creation orders; a larger difference must not exhaust them. */
const MAX_CREATION_AHEAD = 86_400_000_000;

/** Makes one write on a disk: all of it or nothing, in one turn of the event loop. */
export function writeChanges(disk: MemoryDisk, request: WriteRequest): WriteResult {
  checkFences(disk, request);
  if (request.unchanged && disk.hasChanged(request.unchanged)) {
    const results = outdatedResults(request);
    request.onDurable?.(results);
    return { revision: disk.revision, results };
  }
  const transaction = new MemoryTransaction(disk, request.session?.zone);
  const results = request.changes.map((change) => transaction.apply(change));
  const refused = results.flatMap((result, at) => (result.type === 'refused' ? [{ at, result }] : []));
  if (request.onRefusal === 'abort' && refused.length > 0) throw refusedWrite(request.changes, refused);
  const isRaised = results.some((result) => result.type !== 'refused' && result.creationOrder !== undefined);
  const entries = (request.metadata ?? []).filter((entry) => !isRaised || entry.unlessRaised !== true);
  disk.commit(transaction.written, entries, transaction.newest);
  auditWrite(disk, request.changes, results);
  request.onDurable?.(results);
  return { revision: disk.revision, results };
}

function checkFences(disk: MemoryDisk, { fence, session }: WriteRequest): void {
  if (fence && (disk.leader.epoch !== fence.epoch || disk.leader.holder !== fence.holder)) {
    throw new Fenced(
      `epoch ${fence.epoch} of ${fence.holder} has ended; epoch is ${disk.leader.epoch} of ${disk.leader.holder}`,
    );
  }
  if (!session) return;
  const standing = disk.sessions.get(session.zone);
  if (standing?.up !== session.session && standing?.down !== session.session) {
    throw new Fenced(`session ${session.session} of zone ${session.zone} has ended`);
  }
}

/** The decisions of a write so far; they are not committed yet. */
class MemoryTransaction {
  readonly written = new Map<string, MemoryRow>();
  newest: NewestOrder;
  private revision: number;
  private readonly now: number;
  /** New holders of addresses within this write; no other resource gets an address that the same write frees. */
  private readonly vips = new Map<string, string>();

  /** `sessionOf`: the zone whose session writes. */
  constructor(
    private readonly disk: MemoryDisk,
    private readonly sessionOf: string | undefined,
  ) {
    this.revision = disk.revision;
    this.newest = disk.newest;
    this.now = disk.clock.now();
  }

  apply(change: Change): ChangeResult {
    const key = identityKey(change.id);
    const row = this.row(key);
    const decision = decideChange(change, row, {
      now: this.now,
      revision: this.revision + 1,
      nextCreationOrder: () => Math.max(this.now * 1000, this.newest.order) + 1,
      computeOrder: (copy, held) => this.computeOrder(copy, held),
      newUid: this.disk.newId,
      findHolder: (vip, asking) => this.findHolder(vip, asking),
    });
    if (decision.type === 'write') this.take(key, row, decision.row);
    return toResult(change, decision);
  }

  private take(key: string, before: MemoryRow | undefined, after: MemoryRow): void {
    this.revision = after.revision;
    if (after.creationOrder <= this.now * 1000 + MAX_CREATION_AHEAD) {
      this.newest = withOrder(this.newest, after);
    }
    this.written.set(key, after);
    if (after.vip === before?.vip) return;
    if (before?.vip !== undefined) this.vips.set(before.vip, key);
    if (after.vip !== undefined) this.vips.set(after.vip, key);
  }

  private computeOrder({ id, copy, orderFrom }: CopyChange, held: MemoryRow | undefined): number {
    const { sessionOf: zone, newest } = this;
    if (orderFrom === undefined || zone === undefined) return copy.creationOrder;
    return countedOrder({
      claimed: copy.creationOrder,
      held: held?.creationOrder,
      moment: orderFrom === 'now' ? undefined : this.lastMoment(zone, id.kind),
      others: newest.zone === zone ? newest.others : newest.order,
      newest: newest.order,
      now: this.now * 1_000,
    });
  }

  /** If the whole state of a zone was never held, the creation of its Zone counts. */
  private lastMoment(zone: string, kind: string): number {
    const made = this.row(identityKey(globalIdentity('Zone', zone)));
    return (
      findMoment(this.disk.wholes.get(zone), kind) ?? (made?.deletedAt === undefined ? made?.creationOrder : 0) ?? 0
    );
  }

  private findHolder(vip: string, change: Change): Identity | undefined {
    const holder = this.vips.get(vip) ?? this.disk.vips.get(vip);
    const row = holder === undefined || holder === identityKey(change.id) ? undefined : this.row(holder);
    return row?.id;
  }

  private row(key: string): MemoryRow | undefined {
    return this.written.get(key) ?? this.disk.rows.get(key);
  }
}

/** Returns the newest orders after a row was written. */
function withOrder({ order, zone, others }: NewestOrder, { id, creationOrder }: MemoryRow): NewestOrder {
  if (id.zone === zone) return { order: Math.max(order, creationOrder), zone, others };
  if (creationOrder > order) return { order: creationOrder, zone: id.zone, others: order };
  return { order, zone, others: Math.max(others, creationOrder) };
}

function toResult(change: Change, decision: WriteDecision): ChangeResult {
  if (decision.type === 'refused') return decision;
  const { revision, generation, uid, creationOrder } = decision.row;
  const claimed = change.type === 'put' ? change.copy?.creationOrder : undefined;
  const counted = claimed === undefined || claimed === creationOrder ? {} : { creationOrder };
  if (decision.type === 'unchanged') return { type: 'unchanged', revision, generation, uid, ...counted };
  return { type: 'written', created: decision.created, revision, generation, uid, ...counted };
}
