import { compareIdentities, compareText, identityKey, parseIdentityKey, type ControlPlane } from '@causeway/resources';
import { Dataplane } from '@causeway/kinds';
import { SlicedWork } from '@causeway/runtime';
import type { Change, IndexChange, IndexEvent, IndexReader, WriteResult } from '@causeway/store';
import type { DataplaneResource } from '../matching/dataplane-selector';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import { DelayQueue } from '../reconcile/delay-queue';
import { planBatch, refusedKeys, WorkQueue } from '../reconcile/work-queue';
import { planService, isGenerated, type BackingDataplane } from './plan-service';
import { servicesOf, type GeneratedSpec } from './service-candidates';

/** What the services loop needs to know. */
export interface ServicesConfig {
  readonly cp: ControlPlane & { readonly role: 'zone' };
  /** How long a generated service without Dataplanes is kept, ms. */
  readonly gracePeriod: number;
  /** Told of a Dataplane that names a service which cannot be called so. */
  readonly onUnusableName?: (dataplane: string, service: string) => void;
}

/** Changes in one plan. */
const BATCH = 500;

/** Makes MeshServices of the Dataplanes of this zone (design.md §4 services). */
export class ServicesReconciler implements ControlLoop {
  readonly name = 'services';
  private readonly stale = new WorkQueue(compareText);
  /** Service → its Dataplanes, by index key. */
  private readonly members = new Map<string, Set<string>>();
  /** What Dataplanes of several services make. */
  private readonly shapes = new WeakMap<DataplaneResource, ReadonlyMap<string, GeneratedSpec>>();
  /** Generated services without Dataplanes → when their grace ends. */
  private readonly due = new DelayQueue();
  private readonly gathering = new SlicedWork();
  private index: IndexReader | undefined;

  constructor(private readonly config: ServicesConfig) {}

  reset(index: IndexReader): void {
    this.index = index;
    this.stale.clear();
    this.members.clear();
    this.due.clear();
    this.gathering.begin(this.gather(index));
  }

  observe(event: IndexEvent): void {
    for (const change of event.changes) {
      if (!this.isOurs(change.id)) continue;
      if (change.id.kind === 'Dataplane') this.observeDataplane(change);
      else if (change.id.kind === 'MeshService') this.stale.add(change.key);
    }
  }

  plan(now: number): LoopPlan | undefined {
    if (!this.gathering.advance()) return { changes: [], more: true };
    for (const key of this.due.dueAt(now)) this.stale.add(key);
    const decided = planBatch(this.stale, { changes: BATCH }, (key) => this.decide(key, now));
    const wakeAt = this.due.nextDue;
    return wakeAt === undefined ? decided : { ...decided, wakeAt };
  }

  onWritten(changes: readonly Change[], result: WriteResult): void {
    for (const key of refusedKeys(changes, result)) this.stale.add(key);
  }

  /** One row a step. Meeting a Dataplane that was observed in between changes nothing. */
  private *gather(index: IndexReader): Generator<unknown> {
    for (const resource of index.ofKind('Dataplane')) {
      this.observeDataplane({ key: identityKey(resource.id), id: resource.id, before: undefined, after: resource });
      yield;
    }
    for (const service of index.ofKind('MeshService')) {
      if (this.isOurs(service.id) && isGenerated(service)) this.stale.add(identityKey(service.id));
      yield;
    }
  }

  private decide(key: string, now: number): Change | undefined {
    const { cp, gracePeriod } = this.config;
    const existing = this.index?.byIdentityKey(key);
    const backings = this.backingsOf(key);
    const id = existing?.id ?? parseIdentityKey(key);
    const { change, dueAt } = planService({ id, existing, backings, cp, now, gracePeriod });
    this.due.set(key, dueAt);
    return change;
  }

  private backingsOf(key: string): readonly BackingDataplane[] {
    const backings = [...(this.members.get(key) ?? [])].flatMap((member): readonly BackingDataplane[] => {
      const dataplane = this.index?.byIdentityKey(member);
      if (!dataplane || !Dataplane.is(dataplane)) return [];
      const shape = this.shapesOf(dataplane).get(key);
      return shape ? [{ dataplane, spec: shape }] : [];
    });
    return backings.sort(({ dataplane: a }, { dataplane: b }) => byCreation(a, b));
  }

  /** The services of a Dataplane by key; worked out once, however many they are. */
  private shapesOf(dataplane: DataplaneResource): ReadonlyMap<string, GeneratedSpec> {
    const known = this.shapes.get(dataplane);
    if (known) return known;
    const { candidates } = servicesOf(dataplane);
    const shapes = new Map(candidates.map(({ id, spec: shape }) => [identityKey(id), shape]));
    if (shapes.size > 1) this.shapes.set(dataplane, shapes);
    return shapes;
  }

  private observeDataplane({ key, id, before, after }: IndexChange): void {
    if (!this.isOurs(id)) return;
    for (const resource of [before, after]) {
      if (!resource || !Dataplane.is(resource)) continue;
      const { candidates, unusable } = servicesOf(resource);
      for (const candidate of candidates) this.setMember(identityKey(candidate.id), key, resource === after);
      if (resource === after) for (const name of unusable) this.config.onUnusableName?.(key, name);
    }
  }

  private setMember(service: string, dataplane: string, member: boolean): void {
    this.stale.add(service);
    const members = this.members.get(service) ?? new Set<string>();
    if (member) members.add(dataplane);
    else members.delete(dataplane);
    if (members.size === 0) this.members.delete(service);
    else this.members.set(service, members);
  }

  private isOurs(id: { readonly zone: string }): boolean {
    return id.zone === this.config.cp.zone;
  }
}

function byCreation(a: DataplaneResource, b: DataplaneResource): number {
  return a.creationOrder - b.creationOrder || compareIdentities(a.id, b.id);
}
