import { Unavailable } from '@causeway/resources';
import type { Clock, Timer } from '@causeway/runtime';
import { refusedWrite, type Change, type WriteRequest, type WriteResult } from '@causeway/store';

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
 * answered. Only single changes without fence, metadata, `onDurable` and a mesh that must be unchanged are grouped;
 * each gets its own answer. The read sets of all of them must be unchanged together; otherwise each is written alone.
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
    const [change, ...others] = request.changes;
    const alone = change === undefined || others.length > 0;
    const { fence, session, metadata: entries, onDurable, unchanged } = request;
    if (alone || fence || session || entries || onDurable || unchanged?.mesh !== undefined)
      return this.writeNow(request);
    return new Promise((resolve, reject) => {
      this.waiting.push({ change, request, resolve, reject });
      if (this.gathering && this.waiting.length >= this.lastSize) this.endGathering();
      this.startNext();
    });
  }

  private startNext(): void {
    if (this.turn || this.gathering || this.running >= CONCURRENT_GROUPS || this.waiting.length === 0) return;
    const group = this.waiting.slice(0, GROUP_SIZE);
    this.waiting = this.waiting.slice(GROUP_SIZE);
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
      const { revision, results } = await this.writeNow({ changes, onRefusal: 'skip', ...jointReadSet(group) });
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
