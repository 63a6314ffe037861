import { createRedisLock } from '@causeway/leader-redis';
import { createElection, systemClock, type LeaderElection, type Logger, type SettingValues } from '@causeway/runtime';
import type { PostgresBackend } from '@causeway/store-postgres';
import { exitWithProblems } from './load-config';
import { instanceId } from './program-facts';
import type { sharedSettings } from './settings';

/** Who leads among the replicas, and the connection that it takes. */
export interface Leadership {
  readonly election: LeaderElection;
  /** Whether Redis answers; undefined where the lease in Postgres decides alone. */
  redisConnected(): boolean | undefined;
  close(): void;
}

/** What an election of a control plane needs. */
export interface LeadershipParts {
  readonly state: PostgresBackend;
  readonly logger: Logger;
  /** Id of the store: what the lock is about. */
  readonly storeId: string;
}

/**
 * The election of design.md §3: the lock in Redis where there is one (or `CAUSEWAY_LEADER_BACKEND` says so), the lease
 * in Postgres with and without it. The key in Redis holds the id of the store, so that any number of control planes may share one server.
 */
export async function createLeadership(
  settings: SettingValues<typeof sharedSettings>,
  { state, logger, storeId }: LeadershipParts,
): Promise<Leadership> {
  const url = settings.REDIS_URL;
  const backend = settings.CAUSEWAY_LEADER_BACKEND ?? (url === undefined ? 'postgres' : 'redis');
  const facts = {
    lease: state.lease,
    keeper: state.leaseKeeper(settings.CAUSEWAY_LEADER_STALL),
    holder: instanceId,
    leaseMs: settings.CAUSEWAY_LEADER_LEASE,
    clock: systemClock,
    logger,
  };
  if (backend === 'postgres') {
    return { election: createElection(facts), redisConnected: () => undefined, close: () => undefined };
  }
  if (url === undefined) return exitWithProblems(['CAUSEWAY_LEADER_BACKEND is redis, and REDIS_URL is missing']);
  const lock = await createRedisLock({ url, key: `causeway:leader:${storeId}`, logger });
  return {
    election: createElection({ ...facts, lock }),
    redisConnected: () => lock.connected(),
    close: () => lock.close(),
  };
}
