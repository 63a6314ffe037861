export const DEFAULT_PORT = 5_432;

/** Returns hosts, ports and database of what `DATABASE_URL` names, for logs; never its password. */
export function formatServers(urls: readonly string[]): string {
  const parsed = urls.map((url) => (URL.canParse(url) ? new URL(url) : undefined));
  const [first] = parsed;
  if (!first) return 'an address that is no URL';
  return parsed.map((url) => (url ? formatHost(url) : '?')).join(',') + first.pathname;
}

/** Returns host and port of a server, for logs. */
export function formatHost({ hostname, port }: URL): string {
  return `${hostname}:${port || DEFAULT_PORT}`;
}
