import { parseServerList } from '@causeway/runtime';

/** What `DATABASE_URL` names, or what is wrong with it. No reason holds its password. */
export type ServerUrls =
  | { readonly ok: true; /** A URL of one server each, in the order given. */ readonly urls: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const SEVERAL = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
const PRIMARY_WORDS = ['read-write', 'primary'];
const DEFAULT_PORT = 5_432;

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
  const servers = parseServerList(hosts, DEFAULT_PORT);
  return servers.ok ? { ok: true, urls: servers.value.map((server) => `${before}${server}${rest}`) } : servers;
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
  return `${hostname}:${port || DEFAULT_PORT}`;
}

function bad(reason: string): ServerUrls {
  return { ok: false, reason };
}
