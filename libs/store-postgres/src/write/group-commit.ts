import { Unavailable } from '@causeway/resources';
import { refusedWrite, type Change, type WriteRequest, type WriteResult } from '@causeway/store';

/** Most changes in one group: so many rows still come back with the answer. */
const GROUP_SIZE = 50;
/** Statements at a time: a connection that hangs must not delay all writers until its time-out. */
const CONCURRENT_GROUPS = 3;

interface Waiting {
  readonly change: Change;
  readonly request: WriteRequest;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: while single changes are being written, the changes that arrive meanwhile wait and become one statement.
 * One writer at a time locks the head of the log anyway, so many concurrent users cost a fraction of the work, and few
 * users never wait. Only single changes without fence and notes are grouped; each gets its own answer.
 */
export class GroupCommit {
  private underWay = 0;
  private waiting: Waiting[] = [];

  constructor(private readonly writeNow: (request: WriteRequest) => Promise<WriteResult>) {}

  write(request: WriteRequest): Promise<WriteResult> {
    const [change, ...others] = request.changes;
    const alone = change === undefined || others.length > 0;
    if (alone || request.fence || request.session || request.notes) return this.writeNow(request);
    return new Promise((resolve, reject) => {
      this.waiting.push({ change, request, resolve, reject });
      if (this.underWay < CONCURRENT_GROUPS) void this.drain();
    });
  }

  private async drain(): Promise<void> {
    this.underWay += 1;
    while (this.waiting.length > 0) {
      const group = this.waiting.slice(0, GROUP_SIZE);
      this.waiting = this.waiting.slice(GROUP_SIZE);
      const [only] = group;
      await (only && group.length === 1 ? this.writeOne(only) : this.writeGroup(group));
    }
    this.underWay -= 1;
  }

  private async writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const changes = group.map(({ change }) => change);
      const { revision, results } = await this.writeNow({ changes, onRefusal: 'skip' });
      group.forEach((one, place) => answer(one, revision, results[place]));
    } catch (error) {
      if (error instanceof Unavailable) for (const { reject } of group) reject(error);
      // One change may be at fault, and nothing was written: each is written on its own.
      else for (const one of group) await this.writeOne(one);
    }
  }

  private async writeOne({ request, resolve, reject }: Waiting): Promise<void> {
    await this.writeNow(request).then(resolve, reject);
  }
}

function answer(
  { change, request, resolve, reject }: Waiting,
  revision: number,
  result: WriteResult['results'][number] | undefined,
): void {
  if (!result) reject(new Error('the write was answered with too few results'));
  else if (result.type === 'refused' && request.onRefusal === 'abort') {
    reject(refusedWrite([change], [{ at: 0, result }]));
  } else resolve({ revision, results: [result] });
}
