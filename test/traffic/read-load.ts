import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessPlane } from '../support/process-plane';
import { adminFetch } from '../support/admin-credential';

/** Paths that are read of each control plane, in turn. */
const PATHS = [
  '/meshes/default/meshservices',
  '/meshes/default/dataplanes',
  '/metaresourcedefinitions',
  '/_resources',
  '/openapi.json',
];
const PAUSE = 25;

interface Reader {
  isOver: boolean;
  /** Good answers. */
  reads: number;
}

/** Reads control planes over REST, each one request after the other, until it is stopped. */
export class ReadLoad {
  /** Requests that were not answered with 200. */
  readonly failures: string[] = [];
  private readonly readers = new Map<string, { readonly reader: Reader; readonly done: Promise<void> }>();

  /** Begins to read a control plane, which has no reader. */
  join(plane: ProcessPlane): void {
    const reader = { isOver: false, reads: 0 };
    this.readers.set(plane.name, { reader, done: this.read(plane, reader) });
  }

  /** Reads a control plane no more; resolves when its last read is answered. */
  async leave(name: string): Promise<void> {
    const found = this.readers.get(name);
    if (!found) return;
    found.reader.isOver = true;
    await found.done;
    this.readers.delete(name);
  }

  /** The fewest good answers that a control plane has given since it is read. */
  get fewest(): number {
    return Math.min(...[...this.readers.values()].map(({ reader }) => reader.reads));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.readers.keys()].map((name) => this.leave(name)));
  }

  private async read(plane: ProcessPlane, reader: Reader): Promise<void> {
    for (let n = 0; !reader.isOver; n++) {
      const path = PATHS[n % PATHS.length] ?? '';
      const failure = await failureOf(plane.restUrl + path);
      if (failure === '') reader.reads += 1;
      else this.failures.push(`${plane.name} ${path}: ${failure}`);
      await pause(PAUSE);
    }
  }
}

async function failureOf(url: string): Promise<string> {
  try {
    const answer = await adminFetch(url);
    const text = await answer.text();
    return answer.status === 200 ? '' : `${answer.status} ${text.slice(0, 200)}`;
  } catch (error) {
    return String(error instanceof Error ? (error.cause ?? error) : error);
  }
}
