import { identityKey, type Resource } from '@causeway/resources';
import type { Clock, Tracer } from '@causeway/runtime';
import type {
  Change,
  ChangeResult,
  IndexReader,
  MetadataEntry,
  PatchChange,
  PutChange,
  ResourceStore,
  WriteRequest,
  WriteResult,
} from '@causeway/store';
import type { ControlLoop } from './control-loop';
import type { LoopState } from './loop-state';
import { LoopTraces } from './loop-traces';

/** Sources of `CreationWriter`. */
export interface CreationWriterOptions {
  readonly states: readonly LoopState[];
  readonly store: Pick<ResourceStore, 'write'>;
  readonly index: IndexReader;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
  /** Called with an exception of a loop, which then has no part in the write. */
  readonly onError: (state: LoopState, error: unknown) => void;
}

/** A put with what loops give to the resource that it creates, and these loops. */
interface CompletedPut {
  readonly put: PutChange;
  readonly states: readonly LoopState[];
}

/** Completes the creation of resources, so that the copy of a service and its address and names are one write. */
export class CreationWriter {
  private readonly traces: LoopTraces;

  constructor(private readonly options: CreationWriterOptions) {
    this.traces = new LoopTraces(options);
  }

  /** Reports whether `write` may reserve something for one of these changes. */
  mayReserve(changes: readonly Change[]): boolean {
    const { states } = this.options;
    return changes.some(
      (change) =>
        this.isCreation(change) && states.some(({ loop }) => loop.reserving?.handles(change.id.kind) === true),
    );
  }

  /** Writes a request with what the loops give to the resources that it creates; throws as the store does. */
  async write(request: WriteRequest): Promise<WriteResult> {
    const completed = new Map<number, CompletedPut>();
    const changes = request.changes.map((change, at) => {
      if (!this.isCreation(change)) return change;
      const one = this.completePut(change);
      if (one.states.length > 0) completed.set(at, one);
      return one.put;
    });
    const metadata = [...(request.metadata ?? []), ...listMetadata(completed.values())];
    const traces = this.beginTraces(completed);
    let results: readonly ChangeResult[] = [];
    try {
      const given = { ...request, changes, ...(metadata.length > 0 ? { metadata } : {}) };
      const written = await this.options.store.write(given);
      ({ results } = written);
      traces(written);
      return written;
    } finally {
      for (const [at, one] of completed) if (!isCreated(results[at])) release(one);
    }
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

/** Returns a put with the fields that the loops derive for the resource that it creates, without any that must be reserved. */
export function withDerivedFields(loops: readonly ControlLoop[], put: PutChange, now: number): PutChange {
  const before = toCreatedResource(put);
  const created = loops.reduce((resource, loop) => withPatch(resource, loop.derivePatch?.(resource, now)), before);
  return created === before ? put : { ...put, ...toFields(created, undefined) };
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
