import type { LeaderLock, Logger } from '@causeway/runtime';
import { LockConnection } from './lock-connection';
import { parseRedisUrl } from './redis-url';

export interface RedisLockOptions {
  /** URL of one server, of one that Sentinels watch, or of a cluster: the forms of `parseRedisUrl`. */
  readonly url: string;
  /** Key of the lock; one per control plane. */
  readonly key: string;
  readonly logger: Logger;
}

/** A LeaderLock that owns a connection. */
export interface RedisLock extends LeaderLock {
  /** Whether the connection to Redis is open. */
  connected(): boolean;
  close(): void;
}

const ACQUIRE = `
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[2])`;

const RELEASE = `
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
return 0`;

/**
 * Creates the leader lock in Redis: one key with an expiry; renewal and release compare its holder atomically (docs/design.md
 * §3). Finds the server that has the lock, connects and reconnects in the background; meanwhile calls reject immediately. A lock
 * granted by two servers, before and after a failover, is harmless: it only decides which candidate tries.
 */
export function createRedisLock({ url, key, logger }: RedisLockOptions): RedisLock {
  const parsed = parseRedisUrl(url);
  if (!parsed.ok) throw new Error(`REDIS_URL: ${parsed.reason}`);
  const connection = new LockConnection(parsed.servers, key, logger);
  const run = async (script: string, ...values: string[]): Promise<boolean> =>
    (await connection.call((client) => client.eval(script, { keys: [key], arguments: values }))) === 1;
  const take = (holder: string, leaseMs: number): Promise<boolean> => run(ACQUIRE, holder, String(Math.ceil(leaseMs)));
  return {
    acquire: take,
    // Not PING: a cluster node answers that even while the cluster, and so the lock, is down.
    ping: async () => void (await connection.call((client) => client.exists(key))),
    renew: take, // a lock that vanished is taken again: a wiped Redis deposes no leader
    release: async (holder) => void (await run(RELEASE, holder)),
    connected: () => connection.connected,
    close: () => connection.close(),
  };
}
