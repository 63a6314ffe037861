import { errorText, type LeaderLock, type Logger } from '@causeway/runtime';

export interface RedisLockOptions {
  /** `redis://[user:password@]host:port[/database]`, or `rediss://` for TLS. */
  readonly url: string;
  /** One lock a control plane: the key it stands under. */
  readonly key: string;
  readonly logger: Logger;
}

/** A LeaderLock that owns a connection. */
export interface RedisLock extends LeaderLock {
  /** Whether Redis answers now. */
  connected(): boolean;
  close(): void;
}

const LONGEST_PAUSE = 1_000;

const ACQUIRE = `
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[2])`;

const RELEASE = `
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
return 0`;

/**
 * The leader lock in Redis: one key with an expiry, compared with its holder on renewal and release in one step
 * (docs/design.md §3). Connects and reconnects in the background; meanwhile calls
 * reject at once.
 */
export async function createRedisLock({ url, key, logger }: RedisLockOptions): Promise<RedisLock> {
  // Loaded only where a Redis is configured: it would slow down every other start.
  const { createClient } = await import('@redis/client');
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 2_000, reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, LONGEST_PAUSE) },
  });
  let away = false;
  client.on('error', (error: unknown) => {
    if (!away) logger.warn('Redis is away', { error: errorText(error) });
    away = true;
  });
  client.on('ready', () => {
    if (away) logger.info('Redis is back');
    away = false;
  });
  client.connect().catch(() => undefined); // the error event reports it; the client keeps trying
  const run = async (script: string, ...values: string[]): Promise<boolean> =>
    (await client.eval(script, { keys: [key], arguments: values })) === 1;
  const take = (holder: string, leaseMs: number): Promise<boolean> => run(ACQUIRE, holder, String(Math.ceil(leaseMs)));
  return {
    acquire: take,
    ping: async () => void (await client.ping()),
    renew: take, // a lock that vanished is taken again: a wiped Redis deposes no leader
    release: async (holder) => void (await run(RELEASE, holder)),
    connected: () => client.isReady,
    close: () => client.destroy(),
  };
}
