import {
  silentLogger,
  systemClock,
  type Clock,
  type LeaderLease,
  type LeaseKeeper,
  type Logger,
} from '@causeway/runtime';
import type { SessionStore } from '@causeway/store';
import { NotifyListener } from './log/notify-listener';
import { RELEASE_CHANNEL } from './lease/lease-statements';
import { PostgresLease } from './lease/postgres-lease';
import { PostgresPool } from './database/postgres-pool';
import { PostgresSessions } from './postgres-sessions';
import { PostgresStore } from './postgres-store';
import { readyDatabase } from './database/ready-database';
import { WakeUpSignal } from './log/wake-up-signal';
import { WorkerLeaseKeeper } from './lease/worker-lease-keeper';

/** How a process uses its database; only `url` must be given. */
export interface PostgresOptions {
  /** Of the primary: `postgres://user:password@host:port/database`. */
  readonly url: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Most connections for reads and writes, default 10; three more listen and hold the lease. */
  readonly poolSize?: number;
  /** Longest statement, ms; default 30 s. */
  readonly statementTimeout?: number;
  /** ms between looks at the log when nothing wakes a watch; default 2 s. */
  readonly pollEvery?: number;
  /** How long a start waits for the database, ms; default 60 s. */
  readonly startTimeout?: number;
  /** Work on a database that a later version has migrated. */
  readonly tolerateNewer?: boolean;
  /** Ends the waiting of a start. */
  readonly signal?: AbortSignal;
}

/** What can be told of the connections at any time; for metrics and health. */
export interface PostgresStatus {
  readonly listening: boolean;
  /** How often the listening connection was made; more than once: it broke. */
  readonly listenerConnections: number;
  readonly open: number;
  readonly waiting: number;
}

/** A process's part in a store: everything that one database keeps for a control plane. */
export interface PostgresBackend {
  readonly store: PostgresStore;
  readonly sessions: SessionStore;
  readonly lease: LeaderLease;
  /** Renews the lease by a thread of its own until the event loop has stood still for `stallMs`. */
  leaseKeeper(stallMs: number): LeaseKeeper;
  status(): PostgresStatus;
  /** Ends watches and connections. */
  close(): Promise<void>;
}

/**
 * Connects to a store: waits for the database, migrates it, begins to listen. Throws Unavailable with one line for the
 * operator where it cannot.
 */
export async function createPostgresBackend(options: PostgresOptions): Promise<PostgresBackend> {
  const { url, clock = systemClock, logger = silentLogger, statementTimeout = 30_000 } = options;
  const signal = options.signal ?? new AbortController().signal;
  const { startTimeout: timeout = 60_000, tolerateNewer = false } = options;
  await readyDatabase({ url, clock, logger, signal, timeout, tolerateNewer });
  const pool = new PostgresPool({ url, size: options.poolSize ?? 10, statementTimeout, applicationName: 'causeway' });
  const leasePool = new PostgresPool({ url, size: 2, statementTimeout: 3_000, applicationName: 'causeway lease' });
  const wakeUps = new WakeUpSignal(clock);
  const store = new PostgresStore({ pool, wakeUps, clock, logger, pollEvery: options.pollEvery ?? 2_000 });
  const lease = new PostgresLease(leasePool);
  const listener = new NotifyListener({
    ...{ url, clock, logger },
    channels: {
      // Own writes ring by themselves, earlier.
      causeway_log: (backend) => (backend !== undefined && pool.owns(backend) ? undefined : wakeUps.notify()),
      [RELEASE_CHANNEL]: () => lease.heard(),
    },
  });
  return {
    store,
    sessions: new PostgresSessions(pool),
    lease,
    leaseKeeper: (stallMs) => new WorkerLeaseKeeper({ url, lease, clock, logger, stallMs }),
    status: () => ({ ...listenerStatus(listener), ...pool.usage() }),
    close: async () => {
      await store.close();
      await Promise.all([listener.close(), pool.close(), leasePool.close()]);
    },
  };
}

function listenerStatus(listener: NotifyListener): Pick<PostgresStatus, 'listening' | 'listenerConnections'> {
  const { listening, connections } = listener.status();
  return { listening, listenerConnections: connections };
}
