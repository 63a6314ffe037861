import { identityKey, Unavailable, type Resource, type ResourceKey } from '@causeway/resources';
import type { Clock, LeaderTerm, Tracer } from '@causeway/runtime';
import {
  Fenced,
  type Change,
  type ChangeResult,
  type IndexReader,
  type MetadataEntry,
  type PatchChange,
  type PutChange,
  type ResourceStore,
  type WriteRequest,
  type WriteResult,
} from '@causeway/store';
import type { LoopState } from './loop-state';
import { LoopTraces } from './loop-traces';
import type { SharedMutex } from './shared-mutex';

/** Time for which a creation waits for a turn of the loops to end, ms; after that the loops complete it by a write of their own. */
const TURN_TIMEOUT = 100;
/** Maximum number of changes of a write whose creations are completed, at 0.1 ms each; those of larger ones get the rest from the loops, in slices. */
const MAX_COMPLETED = 500;

/** Sources of `CreationWriter`. */
export interface CreationWriterOptions {
  readonly states: readonly LoopState[];
  readonly store: Pick<ResourceStore, 'write'>;
  readonly index: IndexReader;
  readonly clock: Clock;
  readonly term: LeaderTerm;
  readonly tracer?: Tracer | undefined;
  /** Held alone by a turn of the loops, and together by the creations that are under way. */
  readonly turns: SharedMutex;
  /** Reports whether the loops know everything that the store contained when they began. */
  readonly isStarted: () => boolean;
  /** Called with an exception of a loop, which then has no part in the write. */
  readonly onError: (state: LoopState, error: unknown) => void;
  /** Resolves when the index contains a revision. */
  readonly reached: (revision: number) => Promise<void>;
  /** Called, before anything else is reserved, when it is unknown whether a write was made: what was reserved for it may be in the store. */
  readonly onUnknownEnd: () => void;
}

/** A put with what loops give to the resource that it creates, and these loops. */
interface CompletedPut {
  readonly put: PutChange;
  readonly states: readonly LoopState[];
}

/** Completes the creation of resources, so that a service and its address and names are one write. */
export class CreationWriter {
  private readonly traces: LoopTraces;
  /** Resources that are being written, until the index contains them: a second write that creates the same one reserves nothing. */
  private readonly underWay = new Set<ResourceKey>();

  constructor(private readonly options: CreationWriterOptions) {
    this.traces = new LoopTraces(options);
  }

  /** See `LoopRunner.write`. */
  write(request: WriteRequest): Promise<WriteResult> {
    const { store, clock, turns, isStarted } = this.options;
    if (!isStarted() || !this.mayReserve(request.changes)) return store.write(request);
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = clock.after(TURN_TIMEOUT, () => {
        isLate = true;
        store.write(request).then(resolve, reject);
      });
      const work = async (): Promise<unknown> => {
        timer.cancel();
        return isLate ? undefined : this.writeFenced(request, resolve);
      };
      // After an answer, an error only ends the turn.
      turns.runShared(work).catch(reject);
    });
  }

  /**
   * Writes a request with what the loops give to the resources that it creates, and passes on the answer; resolves when the index contains the write.
   * Throws as the store does. Called while `turns` is held.
   */
  async writeInTurn(request: WriteRequest, answer?: (result: WriteResult) => void): Promise<WriteResult> {
    const completed = this.completePuts(request.changes);
    const keys = [...completed.values()].map(({ put }) => identityKey(put.id));
    for (const key of keys) this.underWay.add(key);
    let created: readonly boolean[] = [];
    try {
      const written = await this.writeCompleted(request, completed);
      created = written.results.map(isCreated);
      answer?.(written);
      await this.options.reached(written.revision);
      return written;
    } catch (error) {
      if (error instanceof Unavailable) this.options.onUnknownEnd();
      throw error;
    } finally {
      for (const key of keys) this.underWay.delete(key);
      for (const [at, one] of completed) if (created[at] !== true) release(one);
    }
  }

  private async writeFenced(request: WriteRequest, answer: (result: WriteResult) => void): Promise<void> {
    const { store, isStarted, term } = this.options;
    try {
      const fence = request.fence ?? { epoch: term.epoch, holder: term.holder };
      if (isStarted()) await this.writeInTurn({ ...request, fence }, answer);
      else answer(await store.write(request));
    } catch (error) {
      if (request.fence || !(error instanceof Fenced)) throw error;
      answer(await store.write(request));
    }
  }

  private mayReserve(changes: readonly Change[]): boolean {
    const { states } = this.options;
    const isReserved = ({ id }: Change): boolean =>
      states.some(({ loop }) => loop.reserving?.handles(id.kind) === true);
    return changes.length <= MAX_COMPLETED && changes.some((change) => this.isCreation(change) && isReserved(change));
  }

  private async writeCompleted(
    request: WriteRequest,
    completed: ReadonlyMap<number, CompletedPut>,
  ): Promise<WriteResult> {
    if (completed.size === 0) return this.options.store.write(request);
    const changes = request.changes.map((change, at) => completed.get(at)?.put ?? change);
    const metadata = [...(request.metadata ?? []), ...listMetadata(completed.values())];
    const traces = this.beginTraces(completed);
    const written = await this.options.store.write({
      ...request,
      changes,
      ...(metadata.length > 0 ? { metadata } : {}),
    });
    traces(written);
    return written;
  }

  /** Returns the puts to which loops give something, by their place among the changes. */
  private completePuts(changes: readonly Change[]): ReadonlyMap<number, CompletedPut> {
    const completed = new Map<number, CompletedPut>();
    changes.forEach((change, at) => {
      if (!this.isCreation(change) || this.underWay.has(identityKey(change.id))) return;
      const one = this.completePut(change);
      if (one.states.length > 0) completed.set(at, one);
    });
    return completed;
  }

  private isCreation(change: Change): change is PutChange {
    return change.type === 'put' && this.options.index.get(change.id) === undefined;
  }

  private completePut(put: PutChange): CompletedPut {
    const { states, clock } = this.options;
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    const before = toCreatedResource(put);
    const used: LoopState[] = [];
    let created = before;
    let vip: string | undefined;
    for (const state of states) {
      const { loop } = state;
      if (!state.ready || state.isBackedOff(now)) continue;
      const patch = this.attempt(state, () => {
        if (loop.reserving?.handles(put.id.kind) === true) return loop.reserving.reserve(created, now, elapsed);
        return loop.derivePatch?.(created, now);
      });
      if (!patch) continue;
      used.push(state);
      created = withPatch(created, patch);
      vip = patch.vip ?? vip;
    }
    return { put: created === before ? put : { ...put, ...toFields(created, vip) }, states: used };
  }

  private attempt(state: LoopState, work: () => PatchChange | undefined): PatchChange | undefined {
    try {
      return work();
    } catch (error) {
      this.options.onError(state, error);
      return undefined;
    }
  }

  /** Begins the spans of the loops that took part; the function that is returned ends those of resources that were created. */
  private beginTraces(completed: ReadonlyMap<number, CompletedPut>): (written: WriteResult) => void {
    const { states, tracer } = this.options;
    if (tracer?.isOn !== true) return () => undefined;
    const planned = states.map((state) => {
      const places = [...completed].filter(([, one]) => one.states.includes(state));
      return { state, places: places.map(([at]) => at), plan: { changes: places.map(([, { put }]) => put) } };
    });
    const traces = this.traces.begin(planned);
    return ({ revision, results }) =>
      planned.forEach(({ places }, plan) =>
        traces?.end(plan, { revision, results: places.flatMap((at) => results[at] ?? []) }),
      );
  }
}

function isCreated(result: ChangeResult | undefined): boolean {
  return result?.type === 'written' && result.created;
}

function release({ put, states }: CompletedPut): void {
  for (const { loop } of states)
    if (loop.reserving?.handles(put.id.kind) === true) loop.reserving.release(identityKey(put.id));
}

/** Returns the metadata of what was reserved, once for each loop. */
function listMetadata(completed: Iterable<CompletedPut>): readonly MetadataEntry[] {
  const used = new Set([...completed].flatMap(({ states }) => states));
  return [...used].flatMap(({ loop }) => loop.reserving?.listMetadata?.() ?? []);
}

/** Returns the resource that a put creates; facts that the store draws are 0 or empty. */
function toCreatedResource({ id, labels, spec, status, copy }: PutChange): Resource {
  const drawn = { uid: '', generation: 1, creationOrder: 0, createdAt: 0, origin: NO_ORIGIN };
  const { uid, generation, creationOrder, createdAt, origin } = copy ?? drawn;
  const facts = { uid, generation, creationOrder, createdAt, origin, modifiedAt: 0, revision: 0, freed: [] };
  return { id, labels, spec, ...facts, ...(status ? { status } : {}) };
}

const NO_ORIGIN = { incarnation: '', revision: 0, committedAt: 0 };

function withPatch(resource: Resource, patch: PatchChange | undefined): Resource {
  if (!patch) return resource;
  const { spec = resource.spec, status = resource.status } = patch;
  return { ...resource, spec, ...(status ? { status } : {}) };
}

function toFields({ spec, status }: Resource, vip: string | undefined): Pick<PutChange, 'spec' | 'initial'> {
  return { spec, initial: { ...(status ? { status } : {}), ...(vip === undefined ? {} : { vip }) } };
}
