import { parseServerList } from '@causeway/runtime';
import { DatabaseServers } from './database-servers';
import { DEFAULT_PORT } from './server-addresses';
import { driverParameters, tlsFault } from './server-tls';

/** Servers that `DATABASE_URL` names, or its fault. No reason contains its password. */
export type ServerUrls =
  | { readonly ok: true; /** A URL of one server each, in the order given. */ readonly urls: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const SEVERAL = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
/** A query with parameters of TLS; any other URL stays as it is. */
const TLS = /\bssl(mode|rootcert)=/;
const PRIMARY_WORDS = ['read-write', 'primary'];

/**
 * Splits `postgres://user:password@host1:port1,host2:port2/database?target_session_attrs=read-write` into URLs of one
 * server each. Every other form that the driver understands is one URL and stays as it is.
 */
export function serverUrls(url: string): ServerUrls {
  const [, before = '', hosts = '', path = '', query = ''] = SEVERAL.exec(url) ?? [];
  const given = new URLSearchParams(query);
  const fault = tlsFault(given);
  if (fault !== undefined) return bad(fault);
  const parameters = driverParameters(given);
  if (!hosts.includes(',') && !given.has('target_session_attrs'))
    return { ok: true, urls: [TLS.test(query) ? `${before}${hosts}${path}?${parameters.toString()}` : url] };
  const wanted = parameters.get('target_session_attrs') ?? 'read-write';
  if (!PRIMARY_WORDS.includes(wanted))
    return bad(`target_session_attrs must be ${PRIMARY_WORDS.join(' or ')}: a control plane writes`);
  parameters.delete('target_session_attrs');
  const rest = `${path}${parameters.size > 0 ? `?${parameters.toString()}` : ''}`;
  const servers = parseServerList(hosts, DEFAULT_PORT);
  return servers.ok ? { ok: true, urls: servers.value.map((server) => `${before}${server}${rest}`) } : servers;
}

/** Returns the fault of a `DATABASE_URL`; undefined if none can be found without the servers. */
export function databaseUrlFault(url: string): string | undefined {
  const found = serverUrls(url);
  return found.ok ? undefined : found.reason;
}

/** Returns the servers that a `DATABASE_URL` names. Throws where it is malformed; the message never holds its password. */
export function databaseServers(url: string): DatabaseServers {
  const found = serverUrls(url);
  if (!found.ok) throw new Error(`DATABASE_URL: ${found.reason}`);
  return new DatabaseServers(found.urls);
}

function bad(reason: string): ServerUrls {
  return { ok: false, reason };
}
