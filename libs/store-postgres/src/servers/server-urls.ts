/** What `DATABASE_URL` names, or what is wrong with it. No reason holds its password. */
export type ServerUrls =
  | { readonly ok: true; /** A URL of one server each, in the order given. */ readonly urls: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const SEVERAL = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/;
const PRIMARY_WORDS = ['read-write', 'primary'];
const MOST_SERVERS = 16;

/**
 * Splits `postgres://user:password@host1:port1,host2:port2/database?target_session_attrs=read-write` into URLs of one
 * server each. Every other form that the driver understands is one URL and stays as it is.
 */
export function serverUrls(url: string): ServerUrls {
  const [, before = '', hosts = '', path = '', query = ''] = SEVERAL.exec(url) ?? [];
  if (!hosts.includes(',') && !query.includes('target_session_attrs')) return { ok: true, urls: [url] };
  const parameters = new URLSearchParams(query);
  const wanted = parameters.get('target_session_attrs') ?? 'read-write';
  if (!PRIMARY_WORDS.includes(wanted))
    return bad(`target_session_attrs must be ${PRIMARY_WORDS.join(' or ')}: a control plane writes`);
  parameters.delete('target_session_attrs');
  const rest = `${path}${parameters.size > 0 ? `?${parameters.toString()}` : ''}`;
  const servers = hosts.split(',');
  if (servers.length > MOST_SERVERS) return bad(`it names ${servers.length} servers, and may name ${MOST_SERVERS}`);
  const wrong = servers.findIndex((server) => !isServer(server));
  if (wrong !== -1)
    return bad(`server ${wrong + 1} of ${servers.length} must be HOST or HOST:PORT, the port 1 to 65535`);
  if (new Set(servers.map(withPort)).size < servers.length) return bad('it names a server twice');
  return { ok: true, urls: servers.map((server) => `${before}${withPort(server)}${rest}`) };
}

/** What is wrong with a `DATABASE_URL`; undefined where nothing is, as far as it can be seen without the servers. */
export function databaseUrlFault(url: string): string | undefined {
  const found = serverUrls(url);
  return found.ok ? undefined : found.reason;
}

/** Hosts, ports and database of what `DATABASE_URL` names, for logs; never its password. */
export function addressOf(urls: readonly string[]): string {
  const parsed = urls.map((url) => (URL.canParse(url) ? new URL(url) : undefined));
  const [first] = parsed;
  if (!first) return 'an address that is no URL';
  return parsed.map((url) => (url ? hostOf(url) : '?')).join(',') + first.pathname;
}

/** Host and port of a server, for logs. */
export function hostOf({ hostname, port }: URL): string {
  return `${hostname}:${port || '5432'}`;
}

function isServer(server: string): boolean {
  const [whole, , port = '5432'] = HOST.exec(server) ?? [];
  return whole !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
}

function withPort(server: string): string {
  return HOST.exec(server)?.[2] === undefined ? `${server}:5432` : server;
}

function bad(reason: string): ServerUrls {
  return { ok: false, reason };
}
