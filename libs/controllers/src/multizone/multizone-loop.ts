import { compareText, effectiveLabels, identityKey, type Resource } from '@causeway/resources';
import type { Change, IndexEvent, ResourceIndex, WriteResult } from '@causeway/store';
import { PairIndex, pairsOf } from '../matching/pair-index';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import { refusedKeys, StaleKeys } from '../runner/stale-keys';
import { isMatched, planMultizone, wantedLabels } from './plan-multizone';

const MULTIZONE = 'MeshMultiZoneService';
/** Changes in one plan. */
const BATCH = 500;

/** Lists in every MeshMultiZoneService the MeshServices it stands for in this zone's view (design.md §4 multizone). */
export class MultizoneLoop implements ControlLoop {
  readonly name = 'multizone';
  private readonly stale = new StaleKeys(compareText);
  /** MeshServices by their labels. */
  private readonly candidates = new PairIndex();
  /** MeshMultiZoneServices by one label of their selector. */
  private readonly selectors = new PairIndex();
  private index: ResourceIndex | undefined;

  reset(index: ResourceIndex): void {
    this.index = index;
    this.stale.clear();
    this.candidates.clear();
    this.selectors.clear();
    for (const { id } of index.ofKind('MeshService')) this.observeCandidate(identityKey(id));
    for (const { id } of index.ofKind(MULTIZONE)) this.observeSelector(identityKey(id));
  }

  observe(event: IndexEvent): void {
    for (const { id, key } of event.changes) {
      if (id.kind === 'MeshService') this.observeCandidate(key);
      else if (id.kind === MULTIZONE) this.observeSelector(key);
    }
  }

  plan(now: number): LoopPlan | undefined {
    const changes: Change[] = [];
    for (let key = this.stale.take(); key !== undefined; key = this.stale.take()) {
      const service = this.index?.byIdentityKey(key);
      const change = service && planMultizone(service, this.matchesOf(service), now);
      if (change) changes.push(change);
      if (changes.length === BATCH) break;
    }
    return { changes };
  }

  settled(changes: readonly Change[], result: WriteResult): void {
    for (const key of refusedKeys(changes, result)) this.stale.add(key);
  }

  private matchesOf(service: Resource): readonly Resource[] {
    const wanted = wantedLabels(service);
    const rarest = wanted && this.candidates.rarest(pairsOf(service.id.mesh, wanted));
    if (!wanted || rarest === undefined) return [];
    return [...this.candidates.carriersOf(rarest)].flatMap((key) => {
      const candidate = this.index?.byIdentityKey(key);
      return candidate && isMatched(service, wanted, candidate) ? [candidate] : [];
    });
  }

  /** A change of a MeshService's status changes none of its labels, and so wakes nobody. */
  private observeCandidate(key: string): void {
    const candidate = this.index?.byIdentityKey(key);
    const before = this.candidates.of(key);
    const after = candidate ? pairsOf(candidate.id.mesh, effectiveLabels(candidate)) : [];
    if (before.length === after.length && after.every((pair, i) => pair === before[i])) return;
    this.candidates.put(key, after);
    for (const pair of [...before, ...after]) {
      for (const service of this.selectors.carriersOf(pair)) this.stale.add(service);
    }
  }

  private observeSelector(key: string): void {
    const service = this.index?.byIdentityKey(key);
    const wanted = service && wantedLabels(service);
    const pair = wanted && this.selectors.rarest(pairsOf(service.id.mesh, wanted));
    this.selectors.put(key, pair === undefined ? [] : [pair]);
    this.stale.add(key);
  }
}
