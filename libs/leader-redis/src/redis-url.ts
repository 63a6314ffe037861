/** The servers that may hold the lock. URLs are of one server each, in the order given. */
export type RedisServers =
  | { readonly type: 'one'; readonly urls: readonly [string] }
  | {
      readonly type: 'sentinel';
      /** Of the Sentinels. */
      readonly urls: readonly string[];
      /** What the Sentinels call the server and its replicas. */
      readonly service: string;
      /** The URL of the server at this address. */
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
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/;
const SERVICE = /^([A-Za-z0-9._-]{1,100})(?:\/(\d{1,5}))?$/;
const MOST_SERVERS = 16;
const PORTS = { sentinel: 26_379, cluster: 6_379 } as const;
const SENTINEL_PARAMETERS = ['sentinel_user', 'sentinel_password'];

/**
 * What `REDIS_URL` names: one server (`redis://[user:password@]host:port[/database]`), the server that Sentinels watch
 * (`redis+sentinel://[user:password@]host:port,…/SERVICE[/database][?sentinel_user=…&sentinel_password=…]`), or a cluster
 * (`redis+cluster://[user:password@]host:port,…`); `rediss` is TLS to each of them. No reason holds a password.
 */
export function parseRedisUrl(url: string): RedisUrl {
  const [, scheme, form, credentials, hosts = '', path = '', query = ''] = SEVERAL.exec(url) ?? [];
  if (scheme === undefined || form === undefined) return parseOne(url);
  if (form !== 'sentinel' && form !== 'cluster') return bad(`redis+${form} is no form of it; sentinel and cluster are`);
  const port = PORTS[form];
  const servers = hosts.split(',').map((server) => addressOf(server, port));
  const fault = hostsFault(servers) ?? queryFault(form, query);
  if (fault !== undefined) return bad(fault);
  const at = (address: string, user = credentials): string => `${scheme}://${user ? `${user}@` : ''}${address}`;
  const addresses = servers.filter((server) => server !== undefined);
  if (form === 'cluster') {
    if (path !== '') return bad('a cluster has no databases: it must end after the hosts');
    const urls = addresses.map((address) => at(address));
    return { ok: true, servers: { type: 'cluster', urls, serverUrl: (host, own) => at(joined(host, own)) } };
  }
  const [whole, service = '', database = '0'] = SERVICE.exec(path) ?? [];
  if (whole === undefined) return bad('the hosts of Sentinels must be followed by /SERVICE or /SERVICE/DATABASE');
  const own = sentinelCredentials(new URLSearchParams(query));
  const urls = addresses.map((address) => at(address, own));
  const serverUrl = (host: string, ofServer: number): string => `${at(joined(host, ofServer))}/${database}`;
  return { ok: true, servers: { type: 'sentinel', urls, service, serverUrl } };
}

/** What is wrong with a `REDIS_URL`; undefined where nothing is, as far as it can be seen without the servers. */
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

function addressOf(server: string, defaultPort: number): string | undefined {
  const [, host, port = String(defaultPort)] = HOST.exec(server) ?? [];
  return host !== undefined && Number(port) >= 1 && Number(port) <= 65_535 ? `${host}:${port}` : undefined;
}

function hostsFault(servers: readonly (string | undefined)[]): string | undefined {
  if (servers.length > MOST_SERVERS) return `it names ${servers.length} servers, and may name ${MOST_SERVERS}`;
  const wrong = servers.indexOf(undefined);
  if (wrong !== -1) return `server ${wrong + 1} of ${servers.length} must be HOST or HOST:PORT, the port 1 to 65535`;
  return new Set(servers).size < servers.length ? 'it names a server twice' : undefined;
}

function queryFault(form: 'sentinel' | 'cluster', query: string): string | undefined {
  const known = form === 'sentinel' ? SENTINEL_PARAMETERS : [];
  const unknown = [...new URLSearchParams(query).keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return `${unknown} is no parameter of redis+${form}${known.length > 0 ? `; ${known.join(' and ')} are` : ''}`;
}

/** User and password of the Sentinels, as a URL has them; those of the server are none of theirs. */
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
