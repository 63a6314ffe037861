import { ClaimTable, type ServiceAddress } from '@causeway/naming';
import { SLICE, SlicedWork } from '@causeway/runtime';
import {
  describeIdentity,
  identityKey,
  isJsonArray,
  isJsonObject,
  jsonEqual,
  parseIdentityKey,
  type JsonValue,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import {
  DoubleBuffer,
  type Change,
  type IndexEvent,
  type IndexReader,
  type PatchChange,
  type WriteResult,
} from '@causeway/store';
import { WorkQueue, type ControlLoop, type LoopPlan, type ReservingLoop } from '@causeway/loops';
import { PendingReleases } from './pending-releases';
import {
  applyToClaims,
  fillClaims,
  NAMED_KINDS,
  type ClaimsOf,
  type ServedMeshes,
  type ZoneControlPlane,
} from './zone-claims';

/** Maximum number of changes in one plan. */
const CHANGES_PER_PLAN = 500;

/** The claims of an index, and the rows that may differ from them. */
class HostnameWork {
  readonly claims: ClaimTable;
  /** Rows to compare with the claims, in no particular order. */
  readonly stale = new WorkQueue();
  /** Rows that differ from the claims. */
  readonly outdated = new Set<ResourceKey>();
  readonly pending = new PendingReleases();

  constructor(zone: string) {
    this.claims = new ClaimTable(zone);
  }
}

/**
 * Keeps `status.addresses` of every service in this zone's store equal to the claim table (docs/design.md §4 hostname). Losers are written before the
 * winner: a row shows a name as Available only after a write that was planned when no other row of the index showed it, so at each commit at most one
 * row does (I3; docs/reference/naming.md has the proof). Everything is derived from the index; nothing is kept beyond a term.
 */
export class HostnameReconciler implements ControlLoop {
  readonly name = 'hostname';
  readonly reserving: ReservingLoop = {
    handles: (kind) => NAMED_KINDS.includes(kind),
    reserve: (created) => this.reserveNames(created),
    release: (key) => this.restoreClaims(key),
  };
  private readonly filling = new SlicedWork();
  private readonly buffer: DoubleBuffer<HostnameWork, undefined>;
  private index: IndexReader | undefined;
  private readonly of: ClaimsOf;

  /** Meshes that `meshes` does not serve have no hostnames; see `ClaimsOf`. */
  constructor(cp: ZoneControlPlane, meshes?: ServedMeshes) {
    this.of = { cp, meshes };
    this.buffer = new DoubleBuffer({
      empty: () => new HostnameWork(cp.zone),
      fill: (work) => this.fill(work),
      apply: (work, event) => void this.apply(work, event),
    });
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.filling.begin(this.buffer.refill());
  }

  observe(event: IndexEvent): void {
    this.buffer.apply(event);
  }

  plan(): LoopPlan | undefined {
    const { index } = this;
    if (!index) return undefined;
    if (!this.filling.advance()) return { changes: [], more: true };
    this.queueChanged();
    // Every stale row is compared before anything is decided: a name is free only when all rows that show it are known.
    if (!this.compareStale(index)) return { changes: [], more: true };
    const changes = this.decide(index);
    return changes.length === 0 ? undefined : { changes };
  }

  onWritten(changes: readonly Change[], _result: WriteResult): void {
    for (const { id } of changes) this.work.stale.add(identityKey(id));
  }

  /**
   * Returns the names of a new service, which claims them from then on; undefined if a name is contested, or if not all rows are compared with their
   * claims yet.
   */
  private reserveNames(created: Resource): PatchChange | undefined {
    const { index, buffer } = this;
    if (!index || buffer.isFilling) return undefined;
    const { claims, stale } = this.work;
    this.queueChanged();
    if (!this.compareStale(index)) return undefined;
    const key = identityKey(created.id);
    applyToClaims(claims, { id: created.id, key, before: undefined, after: created }, this.of);
    const changed = this.queueChanged();
    const wanted = claims.listAddresses(key);
    const isAlone = [...changed].every((other) => other === key);
    if (isAlone && wanted.length > 0 && this.withoutPending(key, created, wanted) === wanted) {
      stale.add(key);
      return addressPatch(created, wanted);
    }
    this.restoreClaims(key);
    return undefined;
  }

  /** Gives a service the claims of its row again; none without a row. */
  private restoreClaims(key: ResourceKey): void {
    const after = this.index?.byIdentityKey(key);
    const id = parseIdentityKey(key);
    applyToClaims(this.work.claims, { id, key, before: undefined, after }, this.of);
    this.work.stale.add(key);
  }

  /** Queues the rows whose addresses the claims have changed, and returns their keys. */
  private queueChanged(): ReadonlySet<ResourceKey> {
    const { claims, stale } = this.work;
    const changed = claims.takeChanged();
    for (const key of changed) stale.add(key);
    return changed;
  }

  private get work(): HostnameWork {
    return this.buffer.newest;
  }

  private apply({ claims, stale }: HostnameWork, { changes }: IndexEvent): void {
    for (const change of changes) {
      applyToClaims(claims, change, this.of);
      if (NAMED_KINDS.includes(change.id.kind)) stale.add(change.key);
    }
  }

  /** Fills the claim table, one row a step, and queues every row, including those that the table reports as changed. */
  private *fill({ claims, stale }: HostnameWork): Generator<unknown> {
    if (!this.index) return;
    for (const { id } of fillClaims(claims, this.index, this.of)) {
      if (NAMED_KINDS.includes(id.kind)) stale.add(identityKey(id));
      yield;
    }
    claims.discardChanged();
  }

  /** Compares at most `SLICE` rows; returns true when no stale row is left. */
  private compareStale(index: IndexReader): boolean {
    for (let rows = 0; rows < SLICE; rows++) {
      const key = this.work.stale.take();
      if (key === undefined) return true;
      this.compareRow(key, index);
    }
    return this.work.stale.size === 0;
  }

  /** Records whether a row differs from the claims, and the names that it must release; decides nothing yet. */
  private compareRow(key: ResourceKey, index: IndexReader): void {
    const { claims, outdated, pending } = this.work;
    pending.forget(key);
    outdated.delete(key);
    const row = index.byIdentityKey(key);
    if (!row) return;
    const shown = statusAddresses(row);
    const wanted = claims.listAddresses(key);
    if (jsonEqual(shown, wanted)) return;
    outdated.add(key);
    const kept = availableNames(wanted);
    pending.set(
      key,
      row.id.mesh,
      [...availableNames(shown)].filter((hostname) => !kept.has(hostname)),
    );
  }

  private decide(index: IndexReader): Change[] {
    const changes: Change[] = [];
    const taken = new Set<string>();
    // Rows that release a name go first: other rows wait for them.
    for (const keys of [this.work.pending.rows(), this.work.outdated]) {
      for (const key of keys) {
        if (changes.length >= CHANGES_PER_PLAN) return changes;
        if (taken.has(key)) continue;
        taken.add(key);
        const change = this.decideRow(key, index);
        if (change) changes.push(change);
      }
    }
    return changes;
  }

  private decideRow(key: ResourceKey, index: IndexReader): Change | undefined {
    const row = index.byIdentityKey(key);
    if (!row) return undefined;
    const wanted = this.work.claims.listAddresses(key);
    const possible = this.withoutPending(key, row, wanted);
    // Two rows that swap names must not wait for each other: a row that releases a name is written at once.
    return possible === wanted || this.work.pending.has(key) ? addressPatch(row, possible) : undefined;
  }

  /** Returns `wanted` with the names that another row still shows as NotAvailable; `wanted` itself if there are none. */
  private withoutPending(
    key: ResourceKey,
    row: Resource,
    wanted: readonly ServiceAddress[],
  ): readonly ServiceAddress[] {
    let waits = false;
    const possible = wanted.map((address): ServiceAddress => {
      if (address.status !== 'Available' || address.hostname === undefined) return address;
      const holder = this.work.pending.otherHolder(key, row.id.mesh, address.hostname);
      if (holder === undefined) return address;
      waits = true;
      return {
        ...address,
        status: 'NotAvailable',
        reason: `waits until ${describeIdentity(parseIdentityKey(holder))} has released it`,
      };
    });
    return waits ? possible : wanted;
  }
}

function addressPatch(row: Resource, addresses: readonly ServiceAddress[]): PatchChange {
  return { type: 'patch', id: row.id, expect: row.revision, status: { ...row.status, addresses } };
}

/** Returns the stored `status.addresses`; empty if there is none. */
function statusAddresses(row: Resource): readonly JsonValue[] {
  const addresses = row.status?.['addresses'];
  return isJsonArray(addresses) ? addresses : [];
}

/** Returns the Available hostnames in a list of addresses. */
function availableNames(addresses: readonly JsonValue[]): Set<string> {
  const names = new Set<string>();
  for (const address of addresses) {
    if (!isJsonObject(address) || address['status'] !== 'Available') continue;
    if (typeof address['hostname'] === 'string') names.add(address['hostname']);
  }
  return names;
}
