import { ClaimTable, type ServiceAddress } from '@causeway/naming';
import { SLICE, SlicedWork } from '@causeway/runtime';
import { describeIdentity, identityKey, jsonEqual, parseIdentityKey, type Resource } from '@causeway/resources';
import type { Change, IndexEvent, IndexReader, WriteResult } from '@causeway/store';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import { PendingReleases } from './pending-releases';
import { availableNames, statusAddresses } from './status-addresses';
import { fillClaims, NAMED_KINDS, applyToClaims, type ZoneControlPlane } from './zone-claims';

const BATCH = 500;

/**
 * Keeps `status.addresses` of every service this zone holds equal to what the claims say (design.md §4 hostname; seed
 * 001). Losers are written before the winner: a row gets a name Available only in a write planned when no other row of
 * the index shows it, so at each commit at most one row has it (I3; docs/reference/naming.md has the proof). Derives
 * everything from the index; nothing is remembered beyond a term.
 */
export class HostnameReconciler implements ControlLoop {
  readonly name = 'hostname';
  private readonly filling = new SlicedWork();
  private index: IndexReader | undefined;
  private claims: ClaimTable;
  /** Rows to look at again. */
  private stale = new Set<string>();
  /** Rows that differ from what the claims say. */
  private outdated = new Set<string>();
  private pending = new PendingReleases();

  constructor(private readonly cp: ZoneControlPlane) {
    this.claims = new ClaimTable(cp.zone);
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.claims = new ClaimTable(this.cp.zone);
    this.stale = new Set();
    this.outdated = new Set();
    this.pending = new PendingReleases();
    this.filling.begin(this.fill(index));
  }

  observe(event: IndexEvent): void {
    for (const change of event.changes) {
      applyToClaims(this.claims, change, this.cp);
      if (NAMED_KINDS.includes(change.id.kind)) this.stale.add(change.key);
    }
  }

  plan(): LoopPlan | undefined {
    const { index } = this;
    if (!index) return undefined;
    if (!this.filling.advance()) return { changes: [], more: true };
    for (const key of this.claims.takeChanged()) this.stale.add(key);
    // All of them, before anything is decided: a name is free only when everybody who shows it is known.
    if (!this.compareStale(index)) return { changes: [], more: true };
    const changes = this.decide(index);
    return changes.length === 0 ? undefined : { changes };
  }

  onWritten(changes: readonly Change[], _result: WriteResult): void {
    for (const { id } of changes) this.stale.add(identityKey(id));
  }

  /** Every row is looked at once all are in: who has been touched meanwhile is among them. */
  private *fill(index: IndexReader): Generator<unknown> {
    for (const { id } of fillClaims(this.claims, index, this.cp)) {
      if (NAMED_KINDS.includes(id.kind)) this.stale.add(identityKey(id));
      yield;
    }
    this.claims.discardChanged();
  }

  /** Looks at a bounded number of rows; true when none is left. */
  private compareStale(index: IndexReader): boolean {
    let looks = 0;
    for (const key of this.stale) {
      if (looks++ === SLICE) return false;
      this.stale.delete(key);
      this.compareRow(key, index);
    }
    return true;
  }

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
    // Rows that give up a name go first: others wait for them.
    for (const keys of [this.pending.rows(), this.outdated]) {
      for (const key of keys) {
        if (changes.length >= BATCH) return changes;
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
    // Two rows that swap names must not wait for each other: who gives something up does that at once.
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
