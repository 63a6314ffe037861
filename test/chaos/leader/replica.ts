import { randomUUID } from 'node:crypto';
import {
  createElection,
  silentLogger,
  systemClock,
  type Clock,
  type LeaderElection,
  type LeaderLease,
  type LeaderLock,
  type LeaderTerm,
} from '@causeway/runtime';
import { createRedisLock } from '@causeway/leader-redis';
import type { RedisLock } from '@causeway/leader-redis/testing';
import type { PostgresBackend } from '@causeway/store-postgres';
import { createPostgresBackend } from '@causeway/store-postgres/testing';

export interface ReplicaOptions {
  readonly database: string;
  /** Without it the lease alone decides. */
  readonly redis?: string;
  readonly leaseMs: number;
  readonly clock?: Clock;
  /** Puts something between the election and its lock. */
  readonly wrapLock?: (lock: LeaderLock) => LeaderLock;
  /** Puts something between the election and its lease. */
  readonly wrapLease?: (lease: LeaderLease) => LeaderLease;
  /** Its work while it leads; until its term ends unless given. */
  readonly work?: (term: LeaderTerm, replica: Replica) => Promise<void>;
}

/** One candidate on real servers, in this process. */
export class Replica {
  readonly terms: LeaderTerm[] = [];
  readonly holder = randomUUID();
  readonly election: LeaderElection;
  private readonly stopped = new AbortController();
  private readonly done: Promise<void>;

  private constructor(
    readonly backend: PostgresBackend,
    private readonly lock: RedisLock | undefined,
    options: ReplicaOptions,
  ) {
    const { leaseMs, clock = systemClock, work = untilOver } = options;
    const { wrapLock = (one): LeaderLock => one, wrapLease = (one): LeaderLease => one } = options;
    this.election = createElection({
      lease: wrapLease(backend.lease),
      ...(lock ? { lock: wrapLock(lock) } : {}),
      holder: this.holder,
      leaseMs,
      clock,
      logger: silentLogger,
    });
    this.done = this.election.run(async (term) => {
      this.terms.push(term);
      await work(term, this);
    }, this.stopped.signal);
  }

  static async start(options: ReplicaOptions): Promise<Replica> {
    const backend = await createPostgresBackend({ url: options.database, poolSize: 3 });
    const { redis } = options;
    const lock = redis === undefined ? undefined : createRedisLock({ url: redis, key: 'leader', logger: silentLogger });
    return new Replica(backend, lock, options);
  }

  get leading(): boolean {
    return this.election.status().leading;
  }

  /** Whether it reaches its Redis. */
  get seesLock(): boolean {
    return this.lock?.connected() ?? false;
  }

  /** Takes part no longer; a leader hands over. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.done;
  }

  async close(): Promise<void> {
    await this.stop();
    this.lock?.close();
    await this.backend.close();
  }
}

/** Resolves when the term is over. */
export function untilOver({ signal }: LeaderTerm): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
