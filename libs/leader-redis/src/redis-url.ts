import { parseServerList } from '@causeway/runtime';

/** Servers that may hold the lock. Each URL is of one server, in the given order. */
export type RedisServers =
  | { readonly type: 'one'; readonly urls: readonly [string] }
  | {
      readonly type: 'sentinel';
      /** URLs of the Sentinels. */
      readonly urls: readonly string[];
      /** Name of the server and its replicas in the Sentinels. */
      readonly service: string;
      /** Returns the URL of the server at this address. */
      readonly serverUrl: (host: string, port: number) => string;
    }
  | {
      readonly type: 'cluster';
      readonly urls: readonly string[];
      readonly serverUrl: (host: string, port: number) => string;
    };

type RedisUrl = { readonly ok: true; readonly servers: RedisServers } | { readonly ok: false; readonly reason: string };

const SEVERAL = /^(rediss?)\+([a-z]+):\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const ONE_SCHEME = /^(rediss?|unix):/;
const SERVICE = /^([A-Za-z0-9._-]{1,100})(?:\/(\d{1,5}))?$/;
const PORTS = { sentinel: 26_379, cluster: 6_379 } as const;
const SENTINEL_PARAMETERS = ['sentinel_user', 'sentinel_password'];

/**
 * Parses `REDIS_URL`: one server (`redis://[user:password@]host:port[/database]`), the server that Sentinels watch
 * (`redis+sentinel://[user:password@]host:port,…/SERVICE[/database][?sentinel_user=…&sentinel_password=…]`), or a
 * cluster (`redis+cluster://[user:password@]host:port,…`); `rediss` means TLS to each of them. Reasons never contain a
 * password.
 */
export function parseRedisUrl(url: string): RedisUrl {
  const [, scheme, form, credentials, hosts = '', path = '', query = ''] = SEVERAL.exec(url) ?? [];
  if (scheme === undefined || form === undefined) return parseOne(url);
  if (form !== 'sentinel' && form !== 'cluster')
    return bad(`redis+${form} is not known; write redis+sentinel or redis+cluster`);
  const servers = parseServerList(hosts, PORTS[form]);
  if (!servers.ok) return servers;
  const fault = queryFault(form, query);
  if (fault !== undefined) return bad(fault);
  const at = (address: string, user = credentials): string => `${scheme}://${user ? `${user}@` : ''}${address}`;
  if (form === 'cluster') {
    if (path !== '') return bad('a cluster has no databases: it must end after the hosts');
    const urls = servers.value.map((address) => at(address));
    return { ok: true, servers: { type: 'cluster', urls, serverUrl: (host, own) => at(joined(host, own)) } };
  }
  const [whole, service = '', database = '0'] = SERVICE.exec(path) ?? [];
  if (whole === undefined) return bad('the hosts of Sentinels must be followed by /SERVICE or /SERVICE/DATABASE');
  const own = sentinelCredentials(new URLSearchParams(query));
  const urls = servers.value.map((address) => at(address, own));
  const serverUrl = (host: string, ofServer: number): string => `${at(joined(host, ofServer))}/${database}`;
  return { ok: true, servers: { type: 'sentinel', urls, service, serverUrl } };
}

/** Returns the problem of a `REDIS_URL`; undefined if none can be found without connecting. */
export function redisUrlFault(url: string): string | undefined {
  const parsed = parseRedisUrl(url);
  return parsed.ok ? undefined : parsed.reason;
}

function parseOne(url: string): RedisUrl {
  if (!ONE_SCHEME.test(url) || (!url.startsWith('unix:') && !URL.canParse(url)))
    return bad(
      'must be redis://HOST:PORT, redis+sentinel://HOST:PORT,…/SERVICE or redis+cluster://HOST:PORT,…; rediss for TLS',
    );
  return { ok: true, servers: { type: 'one', urls: [url] } };
}

function queryFault(form: 'sentinel' | 'cluster', query: string): string | undefined {
  const known = form === 'sentinel' ? SENTINEL_PARAMETERS : [];
  const unknown = [...new URLSearchParams(query).keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return `${unknown} is no parameter of redis+${form}${known.length > 0 ? `; ${known.join(' and ')} are` : ''}`;
}

/** Returns user and password of the Sentinels in URL form; the server's are never used for them. */
function sentinelCredentials(parameters: URLSearchParams): string {
  const [user, password] = SENTINEL_PARAMETERS.map((name) => encodeURIComponent(parameters.get(name) ?? ''));
  return password === '' ? '' : `${user}:${password}`;
}

function joined(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function bad(reason: string): RedisUrl {
  return { ok: false, reason };
}
