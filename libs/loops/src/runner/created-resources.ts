import { identityKey, type Resource } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
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
import type { ControlLoop, ReservingLoop } from './control-loop';
import type { LoopState } from './loop-state';

/** Sources of `CreatedResources`. */
export interface CreatedResourcesOptions {
  readonly states: readonly LoopState[];
  readonly store: Pick<ResourceStore, 'write'>;
  readonly index: IndexReader;
  readonly clock: Clock;
  /** Called with an exception of a loop, which then has no part in the write. */
  readonly onError: (state: LoopState, error: unknown) => void;
}

/** Changes in which each put that creates a resource contains what the loops give it. */
interface CompletedChanges {
  readonly changes: readonly Change[];
  /** To be written with the changes. */
  readonly metadata: readonly MetadataEntry[];
  /** Releases what was reserved for resources that were not created; without results, nothing was. */
  settle(results: readonly ChangeResult[]): void;
}

/** Completes the creation of resources, so that the copy of a service and its address and names are one write. */
export class CreatedResources {
  constructor(private readonly options: CreatedResourcesOptions) {}

  /** Reports whether `write` may reserve something for one of these changes. */
  mayReserve(changes: readonly Change[]): boolean {
    return changes.some((change) => this.isCreation(change) && this.listReserving(change).length > 0);
  }

  /** Writes a request with what the loops give to the resources that it creates; throws as the store does. */
  async write(request: WriteRequest): Promise<WriteResult> {
    const completed = this.complete(request.changes);
    const { changes } = completed;
    const metadata = [...(request.metadata ?? []), ...completed.metadata];
    let results: readonly ChangeResult[] = [];
    try {
      const written = await this.options.store.write({
        ...request,
        changes,
        ...(metadata.length > 0 ? { metadata } : {}),
      });
      ({ results } = written);
      return written;
    } finally {
      completed.settle(results);
    }
  }

  private complete(changes: readonly Change[]): CompletedChanges {
    const reserved = new Map<number, readonly ReservingLoop[]>();
    const completed = changes.map((change, at) => {
      if (!this.isCreation(change)) return change;
      const { put, loops } = this.completePut(change);
      if (loops.length > 0) reserved.set(at, loops);
      return put;
    });
    const used = new Set([...reserved.values()].flat());
    return {
      changes: completed,
      metadata: [...used].flatMap((loop) => loop.listMetadata?.() ?? []),
      settle: (results) => {
        for (const [at, loops] of reserved) release(loops, completed[at], results[at]);
      },
    };
  }

  private isCreation(change: Change): change is PutChange {
    return change.type === 'put' && this.options.index.get(change.id) === undefined;
  }

  private listReserving({ id }: PutChange): readonly LoopState[] {
    return this.options.states.filter(({ loop }) => loop.reserving?.kinds.has(id.kind) === true);
  }

  private completePut(put: PutChange): { readonly put: PutChange; readonly loops: readonly ReservingLoop[] } {
    const { states, clock } = this.options;
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    const before = toCreatedResource(put);
    const loops: ReservingLoop[] = [];
    let created = before;
    let vip: string | undefined;
    for (const state of states) {
      const { reserving } = state.loop;
      const reserves = reserving?.kinds.has(put.id.kind) === true;
      if (!state.ready || state.isBackedOff(now) || (!reserves && !state.loop.derivePatch)) continue;
      const patch = this.attempt(state, () =>
        reserves ? reserving.reserve(created, now, elapsed) : state.loop.derivePatch?.(created, now),
      );
      if (!patch) continue;
      if (reserves) loops.push(reserving);
      created = withPatch(created, patch);
      vip = patch.vip ?? vip;
    }
    return { put: created === before ? put : { ...put, ...toFields(created, vip) }, loops };
  }

  private attempt(state: LoopState, work: () => PatchChange | undefined): PatchChange | undefined {
    try {
      return work();
    } catch (error) {
      this.options.onError(state, error);
      return undefined;
    }
  }
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

function release(loops: readonly ReservingLoop[], change: Change | undefined, result: ChangeResult | undefined): void {
  if (change?.type !== 'put' || (result?.type === 'written' && result.created)) return;
  for (const loop of loops) loop.release(identityKey(change.id));
}
