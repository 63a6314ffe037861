import { Unavailable } from '@causeway/resources';
import type { Clock, Timer } from '@causeway/runtime';
import { refusedWrite, type Change, type Fence, type WriteRequest, type WriteResult } from '@causeway/store';

/** Maximum number of changes in one group: so many rows still come back with the answer. */
const GROUP_SIZE = 50;
/** Maximum number of concurrent statements. */
const CONCURRENT_GROUPS = 3;
/** A statement that takes longer no longer delays the next group, ms: its connection may hang until its timeout. */
const SLOW = 25;
/** After a group of this size, the next one waits GATHER ms for as many. */
const BUSY_SIZE = 3;
const GATHER = 1;

interface PendingWrite {
  readonly change: Change;
  readonly request: WriteRequest;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: while single changes are being written, the changes that arrive wait and become one statement. One
 * writer at a time locks the head of the log anyway, so concurrent users cost a fraction of the work, and a single user
 * never waits. If several users write at once, a group waits up to a millisecond for the users whose writes were just
 * answered. Only single changes without a session, `onDurable` and a mesh that must be unchanged are grouped, with those of the
 * same fence; each gets its own answer. The read sets of all of them must be unchanged together; otherwise each is written alone.
 */
export class GroupCommit {
  private running = 0;
  /** The group that the next one waits for. */
  private turn: symbol | undefined;
  private gathering: Timer | undefined;
  private lastSize = 0;
  private waiting: PendingWrite[] = [];

  constructor(
    private readonly writeNow: (request: WriteRequest) => Promise<WriteResult>,
    private readonly clock: Pick<Clock, 'after'>,
  ) {}

  write(request: WriteRequest): Promise<WriteResult> {
    const [change] = request.changes;
    if (change === undefined || !mayBeGrouped(request)) return this.writeNow(request);
    return new Promise((resolve, reject) => {
      this.waiting.push({ change, request, resolve, reject });
      if (this.gathering && this.waiting.length >= this.lastSize) this.endGathering();
      this.startNext();
    });
  }

  private startNext(): void {
    if (this.turn || this.gathering || this.running >= CONCURRENT_GROUPS || this.waiting.length === 0) return;
    const group = this.takeGroup();
    const own = Symbol('group');
    this.turn = own;
    this.running += 1;
    const slow = this.clock.after(SLOW, () => this.giveUpTurn(own));
    void this.writeTogether(group).finally(() => {
      slow.cancel();
      this.running -= 1;
      this.lastSize = group.length;
      if (group.length >= BUSY_SIZE && this.waiting.length < group.length) this.gather();
      this.giveUpTurn(own);
    });
  }

  /** Takes the writes that waited longest and have the fence of the first. */
  private takeGroup(): readonly PendingWrite[] {
    const [first] = this.waiting;
    const group = this.waiting
      .filter(({ request }) => isSameFence(request.fence, first?.request.fence))
      .slice(0, GROUP_SIZE);
    const taken = new Set(group);
    this.waiting = this.waiting.filter((one) => !taken.has(one));
    return group;
  }

  private giveUpTurn(own: symbol): void {
    if (this.turn === own) this.turn = undefined;
    this.startNext();
  }

  private gather(): void {
    this.gathering ??= this.clock.after(GATHER, () => {
      this.gathering = undefined;
      this.startNext();
    });
  }

  private endGathering(): void {
    this.gathering?.cancel();
    this.gathering = undefined;
  }

  private async writeTogether(group: readonly PendingWrite[]): Promise<void> {
    const [only] = group;
    await (only && group.length === 1 ? this.writeOne(only) : this.writeGroup(group));
  }

  private async writeGroup(group: readonly PendingWrite[]): Promise<void> {
    try {
      const changes = group.map(({ change }) => change);
      const joint = { ...jointFence(group), ...jointMetadata(group), ...jointReadSet(group) };
      const { revision, results } = await this.writeNow({ changes, onRefusal: 'skip', ...joint });
      if (results.some(isOutdated)) for (const one of group) await this.writeOne(one);
      else group.forEach((one, place) => answer(one, revision, results[place]));
    } catch (error) {
      if (error instanceof Unavailable) for (const { reject } of group) reject(error);
      // One change may be at fault, and nothing was written: each is written on its own.
      else for (const one of group) await this.writeOne(one);
    }
  }

  private async writeOne({ request, resolve, reject }: PendingWrite): Promise<void> {
    await this.writeNow(request).then(resolve, reject);
  }
}

function isSameFence(a: Fence | undefined, b: Fence | undefined): boolean {
  return a?.epoch === b?.epoch && a?.holder === b?.holder;
}

function jointFence([first]: readonly PendingWrite[]): Pick<WriteRequest, 'fence'> {
  return first?.request.fence ? { fence: first.request.fence } : {};
}

function jointMetadata(group: readonly PendingWrite[]): Pick<WriteRequest, 'metadata'> {
  const metadata = group.flatMap(({ request }) => request.metadata ?? []);
  return metadata.length === 0 ? {} : { metadata };
}

/** Reports whether a request means the same beside changes of others: its metadata is not made subject to what becomes of the change. */
function mayBeGrouped({ changes, session, metadata = [], onRefusal, onDurable, unchanged }: WriteRequest): boolean {
  const depends = onRefusal === 'abort' || metadata.some(({ unlessRaised }) => unlessRaised === true);
  if (metadata.length > 0 && depends) return false;
  return changes.length === 1 && !session && !onDurable && unchanged?.mesh === undefined;
}

/** Returns the union of the read sets of a group, as of the oldest of their revisions. */
function jointReadSet(group: readonly PendingWrite[]): Pick<WriteRequest, 'unchanged'> {
  const sets = group.flatMap(({ request: { unchanged } }) => unchanged ?? []);
  if (sets.length === 0) return {};
  const kinds = [...new Set(sets.flatMap((set) => set.kinds ?? []))];
  return { unchanged: { revision: Math.min(...sets.map(({ revision }) => revision)), kinds } };
}

function isOutdated(result: WriteResult['results'][number]): boolean {
  return result.type === 'refused' && result.refusal === 'outdated';
}

function answer(
  { change, request, resolve, reject }: PendingWrite,
  revision: number,
  result: WriteResult['results'][number] | undefined,
): void {
  if (!result) reject(new Error('the write was answered with too few results'));
  else if (result.type === 'refused' && request.onRefusal === 'abort') {
    reject(refusedWrite([change], [{ at: 0, result }]));
  } else resolve({ revision, results: [result] });
}
