import { compareText, effectiveLabel, identityKey, jsonEqual, type Labels, type Resource } from '@causeway/resources';
import { SlicedWork } from '@causeway/runtime';
import type { Change, IndexChange, IndexEvent, IndexReader, WriteResult } from '@causeway/store';
import { AttributeIndex, type SelectorTerm } from '../matching/attribute-index';
import { SelectorIndex } from '../matching/selector-index';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import { planBatch, refusedKeys, WorkQueue } from '../reconcile/work-queue';
import { isMatched, planMultizone, wantedLabels } from './plan-multizone';

const MULTIZONE = 'MeshMultiZoneService';
/** Changes in one plan. */
const BATCH = 500;

/** Lists in every MeshMultiZoneService the MeshServices it stands for in this zone's view (design.md §4 multizone). */
export class MultizoneReconciler implements ControlLoop {
  readonly name = 'multizone';
  private readonly stale = new WorkQueue(compareText);
  /** MeshServices by label. */
  private readonly candidates = new AttributeIndex(labelValues);
  private readonly selectors = new SelectorIndex();
  private readonly gathering = new SlicedWork();
  private index: IndexReader | undefined;

  reset(index: IndexReader): void {
    this.index = index;
    this.stale.clear();
    this.candidates.clear();
    this.selectors.clear();
    this.gathering.begin(this.gather(index));
  }

  observe(event: IndexEvent): void {
    for (const change of event.changes) {
      if (change.id.kind === 'MeshService') this.observeCandidate(change);
      else if (change.id.kind === MULTIZONE) this.observeSelector(change.key);
    }
  }

  plan(now: number): LoopPlan | undefined {
    if (!this.gathering.advance()) return { changes: [], more: true };
    return planBatch(this.stale, { changes: BATCH }, (key) => {
      const service = this.index?.byIdentityKey(key);
      return service && planMultizone(service, this.matchesOf(service), now);
    });
  }

  onWritten(changes: readonly Change[], result: WriteResult): void {
    for (const key of refusedKeys(changes, result)) this.stale.add(key);
  }

  /** One row a step; nothing is matched before all are in. */
  private *gather(index: IndexReader): Generator<unknown> {
    for (const service of index.ofKind(MULTIZONE)) {
      yield* this.candidates.ensureStepwise(selectorTerms(service), () => this.allCandidates());
      yield this.observeSelector(identityKey(service.id));
    }
  }

  private matchesOf(service: Resource): readonly Resource[] {
    const wanted = wantedLabels(service);
    if (!wanted) return [];
    return [...this.candidates.candidates(termsOf(service, wanted))].flatMap((key) => {
      const candidate = this.index?.byIdentityKey(key);
      return candidate && isMatched(service, wanted, candidate) ? [candidate] : [];
    });
  }

  /** A change of a MeshService's status changes none of its labels, and so wakes nobody. */
  private observeCandidate({ key, before, after }: IndexChange): void {
    if (before && after && jsonEqual(before.labels, after.labels)) return;
    this.candidates.replace(key, before, after);
    for (const candidate of [before, after]) {
      for (const term of candidate ? this.candidates.termsOf(candidate) : []) {
        for (const service of this.selectors.idsFor(term)) this.stale.add(service);
      }
    }
  }

  private observeSelector(key: string): void {
    const service = this.index?.byIdentityKey(key);
    const terms = service ? selectorTerms(service) : [];
    this.candidates.ensure(terms, () => this.allCandidates());
    this.selectors.put(key, terms);
    this.stale.add(key);
  }

  private *allCandidates(): Iterable<readonly [string, Resource]> {
    for (const candidate of this.index?.ofKind('MeshService') ?? []) yield [identityKey(candidate.id), candidate];
  }
}

function selectorTerms(service: Resource): readonly SelectorTerm[] {
  const wanted = wantedLabels(service);
  return wanted ? termsOf(service, wanted) : [];
}

function termsOf({ id }: Resource, wanted: Labels): readonly SelectorTerm[] {
  return Object.entries(wanted).map(([key, value]) => ({ attribute: key, value: `${id.mesh}/${value}` }));
}

function labelValues(candidate: Resource, key: string): readonly string[] {
  const value = effectiveLabel(candidate, key);
  return value === undefined ? [] : [`${candidate.id.mesh}/${value}`];
}
