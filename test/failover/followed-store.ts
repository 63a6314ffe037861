import type { Identity, Resource } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followIndex, followStore, ResourceIndex, type PutChange } from '@causeway/store';
import type { PostgresBackend } from '@causeway/store-postgres';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { until } from '../support/until';

/** One replica's store and the index that follows it, as a control plane has them. */
export class FollowedStore {
  readonly index = new ResourceIndex();
  /** Number of reloads of the index. */
  reloads = 0;
  private readonly over = new AbortController();
  private readonly following: Promise<void>;

  private constructor(readonly backend: PostgresBackend) {
    followIndex(this.index, { reload: () => (this.reloads += 1), apply: () => undefined });
    const options = { clock: systemClock, logger: silentLogger, signal: this.over.signal };
    this.following = followStore(backend.store, this.index, options);
  }

  static async start(url: string): Promise<FollowedStore> {
    // The time limit of a statement without an answer is longer than a test.
    return new FollowedStore(await createPostgresBackend({ url, poolSize: 3, statementTimeout: 3_600_000 }));
  }

  /** Writes one resource after the other until the signal aborts, as a user does who goes on after a failure. */
  async writeUntil(signal: AbortSignal, log: { answered: string[]; failed: string[] }): Promise<void> {
    for (let n = 0; !signal.aborted; n++) {
      const name = `written-${n}`;
      await this.write(name).then(
        () => log.answered.push(name),
        () => log.failed.push(name),
      );
      if (log.failed.at(-1) === name) await systemClock.sleep(20, signal);
    }
  }

  async write(name: string): Promise<void> {
    await this.backend.store.write({ changes: [putOf(name)], onRefusal: 'abort' });
  }

  /** Resolves when the index holds the primary's state, and returns its names. */
  async caughtUp(): Promise<readonly string[]> {
    await until('the index has reached the head of the store', async () => {
      const head = await this.backend.store.head().catch(() => undefined);
      const { point } = this.index;
      return head !== undefined && point?.incarnation === head.incarnation && point.revision >= head.revision;
    });
    return namesOf(this.index.ofKind('Thing'));
  }

  async close(): Promise<void> {
    this.over.abort();
    await this.following;
    await this.backend.close();
  }
}

export function thing(name: string): Identity {
  return { kind: 'Thing', mesh: 'default', zone: '', namespace: '', name };
}

export function putOf(name: string): PutChange {
  return { type: 'put', id: thing(name), expect: 'any', labels: {}, spec: {} };
}

export function namesOf(resources: Iterable<Resource>): readonly string[] {
  return [...resources].map(({ id }) => id.name).sort();
}
