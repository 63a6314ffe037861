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
} from '@causeway/resources';
import type { Change, IndexEvent, IndexReader, WriteResult } from '@causeway/store';
import { WorkQueue } from '../reconcile/work-queue';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import { PendingReleases } from './pending-releases';
import {
  applyToClaims,
  fillClaims,
  NAMED_KINDS,
  type ClaimsOf,
  type ServedMeshes,
  type ZoneControlPlane,
} from './zone-claims';

/** Changes in one plan. */
const CHANGES_PER_PLAN = 500;

/**
 * Keeps `status.addresses` of every service in this zone's store equal to what the claim table says (docs/design.md §4
 * hostname). Losers are written before the winner: a row shows a name as Available only after a write that was planned
 * when no other row of the index showed it, so at each commit at most one row does (I3; docs/reference/naming.md has the
 * proof). Everything is derived from the index; nothing is kept beyond a term.
 */
export class HostnameReconciler implements ControlLoop {
  readonly name = 'hostname';
  private readonly filling = new SlicedWork();
  private index: IndexReader | undefined;
  private claims: ClaimTable;
  /** Rows to compare with the claims, in no particular order. */
  private readonly stale = new WorkQueue();
  /** Rows that differ from the claims. */
  private outdated = new Set<string>();
  private pending = new PendingReleases();

  private readonly of: ClaimsOf;

  /** Meshes that `meshes` does not serve have no hostnames; see `ClaimsOf`. */
  constructor(
    private readonly cp: ZoneControlPlane,
    meshes?: ServedMeshes,
  ) {
    this.of = { cp, meshes };
    this.claims = new ClaimTable(cp.zone);
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.claims = new ClaimTable(this.cp.zone);
    this.stale.clear();
    this.outdated = new Set();
    this.pending = new PendingReleases();
    this.filling.begin(this.fill(index));
  }

  observe(event: IndexEvent): void {
    for (const change of event.changes) {
      applyToClaims(this.claims, change, this.of);
      if (NAMED_KINDS.includes(change.id.kind)) this.stale.add(change.key);
    }
  }

  plan(): LoopPlan | undefined {
    const { index } = this;
    if (!index) return undefined;
    if (!this.filling.advance()) return { changes: [], more: true };
    for (const key of this.claims.takeChanged()) this.stale.add(key);
    // Every stale row is compared before anything is decided: a name is free only when all rows that show it are known.
    if (!this.compareStale(index)) return { changes: [], more: true };
    const changes = this.decide(index);
    return changes.length === 0 ? undefined : { changes };
  }

  onWritten(changes: readonly Change[], _result: WriteResult): void {
    for (const { id } of changes) this.stale.add(identityKey(id));
  }

  /** Fills the claim table, one row a step, and queues every row; that includes those that the table reports as changed. */
  private *fill(index: IndexReader): Generator<unknown> {
    for (const { id } of fillClaims(this.claims, index, this.of)) {
      if (NAMED_KINDS.includes(id.kind)) this.stale.add(identityKey(id));
      yield;
    }
    this.claims.discardChanged();
  }

  /** Compares at most `SLICE` rows; true when no stale row is left. */
  private compareStale(index: IndexReader): boolean {
    for (let rows = 0; rows < SLICE; rows++) {
      const key = this.stale.take();
      if (key === undefined) return true;
      this.compareRow(key, index);
    }
    return this.stale.size === 0;
  }

  /** Notes whether a row differs from the claims and which names it must release; decides nothing yet. */
  private compareRow(key: string, index: IndexReader): void {
    this.pending.forget(key);
    this.outdated.delete(key);
    const row = index.byIdentityKey(key);
    if (!row) return;
    const shown = statusAddresses(row);
    const wanted = this.claims.addressesOf(key);
    if (jsonEqual(shown, wanted)) return;
    this.outdated.add(key);
    const kept = availableNames(wanted);
    this.pending.set(
      key,
      row.id.mesh,
      [...availableNames(shown)].filter((hostname) => !kept.has(hostname)),
    );
  }

  private decide(index: IndexReader): Change[] {
    const changes: Change[] = [];
    const taken = new Set<string>();
    // Rows that release a name go first: other rows wait for them.
    for (const keys of [this.pending.rows(), this.outdated]) {
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

  private decideRow(key: string, index: IndexReader): Change | undefined {
    const row = index.byIdentityKey(key);
    if (!row) return undefined;
    const wanted = this.claims.addressesOf(key);
    const possible = this.withoutPending(key, row, wanted);
    // Two rows that swap names must not wait for each other: a row that releases a name is written at once.
    return possible === wanted || this.pending.has(key) ? addressPatch(row, possible) : undefined;
  }

  /** `wanted` with the names that another row still shows as NotAvailable; `wanted` itself when there are none. */
  private withoutPending(key: string, row: Resource, wanted: readonly ServiceAddress[]): readonly ServiceAddress[] {
    let waits = false;
    const possible = wanted.map((address): ServiceAddress => {
      if (address.status !== 'Available' || address.hostname === undefined) return address;
      const holder = this.pending.otherHolder(key, row.id.mesh, address.hostname);
      if (holder === undefined) return address;
      waits = true;
      return {
        ...address,
        status: 'NotAvailable',
        reason: `waits until ${describeIdentity(parseIdentityKey(holder))} has given it up`,
      };
    });
    return waits ? possible : wanted;
  }
}

function addressPatch(row: Resource, addresses: readonly ServiceAddress[]): Change {
  return { type: 'patch', id: row.id, expect: row.revision, status: { ...row.status, addresses } };
}

/** `status.addresses` as it is stored; empty when there is none. */
function statusAddresses(row: Resource): readonly JsonValue[] {
  const addresses = row.status?.['addresses'];
  return isJsonArray(addresses) ? addresses : [];
}

/** The hostnames that are Available in a list of addresses. */
function availableNames(addresses: readonly JsonValue[]): Set<string> {
  const names = new Set<string>();
  for (const address of addresses) {
    if (!isJsonObject(address) || address['status'] !== 'Available') continue;
    if (typeof address['hostname'] === 'string') names.add(address['hostname']);
  }
  return names;
}
