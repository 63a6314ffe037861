import { MeshTrust } from '@causeway/kinds';
import { compareText, globalIdentity, identityKey, jsonEqual, Label, type ResourceKey } from '@causeway/resources';
import { nextTickAt } from '@causeway/runtime';
import type { Change, IndexChange, IndexEvent, IndexReader, WriteResult } from '@causeway/store';
import type { ProxyDirectory } from '../proxies/proxy-directory';
import {
  KeyedLoop,
  NO_KEYS,
  type KeyedReconciler,
  type Keys,
  type ReconcileResult,
  type ControlLoop,
  type LoopPlan,
} from '@causeway/loops';
import {
  computeAcceptance,
  isUnheard,
  NOTHING_ROTATES,
  planZoneTrust,
  renderAcceptance,
  rotatingAuthorities,
  type RotatingAuthorities,
} from './trust-acceptance';
import { AUTHORITY_PUBLISHER } from './trust-publisher';

/** Interval of the reads of proxy sessions, ms. */
const POLL_INTERVAL = 1_000;
const CHANGES_PER_PLAN = 500;

/**
 * Writes on the MeshTrusts that a zone publishes which new authorities all its connected proxies have accepted (`status.proxies`): the zone whose
 * authority is rotated waits for that. A proxy that connects later is sent them first, so an acceptance stays valid. A proxy that connected shortly
 * before is waited for too: each replica must first have reported its proxies. Without a rotation it writes nothing.
 */
export class TrustAcceptanceReporter implements ControlLoop {
  readonly name = 'trust-acceptance';
  private index: IndexReader | undefined;
  private isStale = false;
  private rotating: RotatingAuthorities = new Map();
  /** Whether proxies may have connected before the new authorities could be sent to them, and are not known yet. */
  private isUnheard = false;
  private lookedAt: number | undefined;

  constructor(
    private readonly zone: string,
    private readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'all' | 'changesSince' | 'heardUpTo'>,
  ) {}

  reset(index: IndexReader): void {
    this.index = index;
    this.isStale = true;
    this.rotating = new Map();
    this.lookedAt = undefined;
  }

  observe({ changes }: IndexEvent): void {
    if (changes.some(({ id }) => id.kind === MeshTrust.name)) this.isStale = true;
  }

  plan(now: number, elapsed = now): LoopPlan {
    const idle = { changes: [], wakeAt: nextTickAt(elapsed, now, POLL_INTERVAL) };
    if (!this.index || !this.proxies.isLoaded) return idle;
    const { next, owners } = this.proxies.changesSince(this.lookedAt);
    this.lookedAt = next;
    const isMoved = this.rotating.size > 0 && owners.length > 0;
    if (!this.isStale && !this.isUnheard && !isMoved) return idle;
    if (this.isStale) this.rotating = rotatingAuthorities(this.index, this.rotating);
    const all = this.changes(this.index);
    this.isStale = all.length > CHANGES_PER_PLAN;
    return { ...idle, changes: all.slice(0, CHANGES_PER_PLAN), more: this.isStale };
  }

  onWritten(_: readonly Change[], { results }: WriteResult): void {
    if (results.some(({ type }) => type === 'refused')) this.isStale = true;
  }

  private changes(index: IndexReader): Change[] {
    const heardUpTo = this.proxies.heardUpTo(index.point?.incarnation ?? '');
    this.isUnheard = isUnheard(this.rotating, heardUpTo);
    const accepted = computeAcceptance(this.proxies.all(), this.rotating, heardUpTo);
    return [...index.ofKind(MeshTrust.name)].flatMap((held): Change[] => {
      if (held.id.zone !== this.zone || held.labels[Label.managedBy] !== AUTHORITY_PUBLISHER) return [];
      const proxies = renderAcceptance(accepted.get(held.id.mesh) ?? NOTHING_ROTATES);
      if (jsonEqual(held.status?.['proxies'], proxies)) return [];
      return [{ type: 'patch', id: held.id, expect: held.revision, status: { ...held.status, proxies } }];
    });
  }
}

/**
 * Writes on each Zone which new authorities its proxies have accepted, from the zone's MeshTrusts (`status.trust`); absent for a zone without a
 * report. A change of a MeshTrust costs the MeshTrusts of its zone.
 */
class ZoneTrustReconciler implements KeyedReconciler {
  readonly name = 'zone-trust';
  /** Keys of MeshTrusts by their zone. */
  private readonly ofZone = new Map<string, Set<ResourceKey>>();

  *seed(index: IndexReader): Iterable<Keys> {
    this.ofZone.clear();
    for (const { id } of index.ofKind(MeshTrust.name)) {
      this.file(id.zone, identityKey(id));
      yield NO_KEYS;
    }
    for (const { id } of index.ofKind('Zone')) yield [identityKey(id)];
  }

  listKeys({ id, key, before, after }: IndexChange): Keys {
    if (id.kind === 'Zone') return after ? [key] : NO_KEYS;
    if (id.kind !== MeshTrust.name || id.zone === '') return NO_KEYS;
    if (after) this.file(id.zone, key);
    else this.ofZone.get(id.zone)?.delete(key);
    const isSame = before && after && jsonEqual(before.status?.['proxies'], after.status?.['proxies']);
    return isSame ? NO_KEYS : [identityKey(globalIdentity('Zone', id.zone))];
  }

  reconcile(key: ResourceKey, index: IndexReader): ReconcileResult | undefined {
    const held = index.byIdentityKey(key);
    if (!held) return undefined;
    const keys = [...(this.ofZone.get(held.id.name) ?? [])].sort(compareText);
    const wanted = planZoneTrust(keys.flatMap((each) => index.byIdentityKey(each) ?? []));
    const { trust, ...others } = held.status ?? {};
    if (jsonEqual(trust, wanted.length > 0 ? wanted : undefined)) return { change: undefined };
    const status = wanted.length > 0 ? { ...others, trust: wanted } : others;
    return { change: { type: 'patch', id: held.id, expect: held.revision, status } };
  }

  private file(zone: string, key: ResourceKey): void {
    const keys = this.ofZone.get(zone) ?? new Set();
    this.ofZone.set(zone, keys.add(key));
  }
}

/** Creates the control loop of the global's leader that stores the acceptance that zones report of their proxies. */
export function createZoneTrustLoop(): KeyedLoop {
  return new KeyedLoop(new ZoneTrustReconciler());
}
