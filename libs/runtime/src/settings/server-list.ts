import type { ParseResult } from './setting';

const SERVER = /^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/;
const MAX_SERVERS = 16;

/**
 * Parses the servers of a URL that names several (`a:1,b,[::1]:2`), each as `HOST:PORT`, in order: 1 to 16 without
 * duplicates. Reasons never contain the text, which may include a password.
 */
export function parseServerList(text: string, defaultPort: number): ParseResult<readonly string[]> {
  const servers = text.split(',').map((server) => withPort(server, defaultPort));
  if (servers.length > MAX_SERVERS) return bad(`it names ${servers.length} servers, and may name ${MAX_SERVERS}`);
  const known = servers.filter((server) => server !== undefined);
  if (known.length < servers.length) {
    const wrong = servers.indexOf(undefined) + 1;
    return bad(`server ${wrong} of ${servers.length} must be HOST or HOST:PORT, the port 1 to 65535`);
  }
  return new Set(known).size < known.length ? bad('it names a server twice') : { ok: true, value: known };
}

function withPort(server: string, defaultPort: number): string | undefined {
  const [, host, port = String(defaultPort)] = SERVER.exec(server) ?? [];
  return host !== undefined && Number(port) >= 1 && Number(port) <= 65_535 ? `${host}:${port}` : undefined;
}

function bad(reason: string): ParseResult<never> {
  return { ok: false, reason };
}
