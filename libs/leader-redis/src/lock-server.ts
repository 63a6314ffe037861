import type { RedisClientType } from '@redis/client';
import { errorText, systemClock, withTimeout } from '@causeway/runtime';
import type { RedisServers } from './redis-url';

/** Timeout of one server, ms. */
export const ANSWER_TIMEOUT = 2_000;

/** A connection to one Redis. */
export type RedisConnection = RedisClientType;

/**
 * Returns an open connection. It does not reconnect: the lock may be on another server then. Rejects if the server does
 * not answer in time.
 */
export async function connectTo(url: string): Promise<RedisConnection> {
  // Loaded only if a Redis is configured: it would slow down every other start.
  const { createClient } = await import('@redis/client');
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: ANSWER_TIMEOUT, reconnectStrategy: false },
  });
  client.on('error', () => undefined); // calls reject, and `end` follows
  try {
    await withTimeout(systemClock, ANSWER_TIMEOUT, client.connect());
    return client;
  } catch (error) {
    if (client.isOpen) client.destroy();
    throw error;
  }
}

/**
 * Returns the URL of the server that has the lock of this key now: the single server, the one that the Sentinels name,
 * or the cluster node that has the key's slot. Rejects if no server knows it.
 */
export async function findLockServer(servers: RedisServers, key: string): Promise<string> {
  switch (servers.type) {
    case 'one':
      return servers.urls[0];
    case 'sentinel': {
      const [host, port] = await askInTurn(servers.urls, async (sentinel) => {
        const answer: unknown = await sentinel.sendCommand(['SENTINEL', 'get-master-addr-by-name', servers.service]);
        if (!isAddress(answer)) throw new Error(`it watches no service ${servers.service}`);
        return answer;
      });
      return servers.serverUrl(host, Number(port));
    }
    case 'cluster': {
      const [host, port] = await askInTurn(servers.urls, (node, asked) => findOwner(key, node, asked));
      return servers.serverUrl(host, Number(port));
    }
  }
}

type Address = readonly [host: string, port: string | number];

/** Returns the first answer, asking one server after the other; rejects with the errors of all. */
async function askInTurn<T>(
  urls: readonly string[],
  ask: (server: RedisConnection, url: URL) => Promise<T>,
): Promise<T> {
  const failures: string[] = [];
  for (const url of urls) {
    let server: RedisConnection | undefined;
    try {
      server = await connectTo(url);
      return await withTimeout(systemClock, ANSWER_TIMEOUT, ask(server, new URL(url)));
    } catch (error) {
      failures.push(`${new URL(url).host}: ${errorText(error)}`);
    } finally {
      if (server?.isOpen) server.destroy();
    }
  }
  throw new Error(failures.join('; '));
}

/** Returns the node that has the slot of the key, according to another node. */
async function findOwner(key: string, node: RedisConnection, asked: URL): Promise<Address> {
  const [slot, ranges] = await Promise.all([
    node.sendCommand(['CLUSTER', 'KEYSLOT', key]),
    node.sendCommand(['CLUSTER', 'SLOTS']),
  ]);
  for (const range of isList(ranges) ? ranges : []) {
    if (!isList(range)) continue;
    const [from, to, master] = range;
    if (!isList(master) || Number(slot) < Number(from) || Number(slot) > Number(to)) continue;
    const [host, port] = master;
    // A node that does not know its own address leaves the host empty.
    return [typeof host === 'string' && host !== '' ? host : asked.hostname, Number(port)];
  }
  throw new Error(`no node has slot ${Number(slot)}`);
}

function isAddress(answer: unknown): answer is Address {
  return isList(answer) && answer.length === 2 && answer.every((part) => typeof part === 'string');
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
