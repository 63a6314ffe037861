import { closeSync, openSync, readSync } from 'node:fs';
import { endianness, networkInterfaces } from 'node:os';

/** Maximum bytes read of a socket table. Linux lists listening sockets first. */
const MAX_READ = 1024 * 1024;
const LISTENING = '0A';
const buffer = Buffer.alloc(64 * 1024);
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;

/** Listening TCP socket of this machine. */
export interface ListeningSocket {
  /** In the table's form: hexadecimal, in the byte order of the host. */
  readonly address: string;
  readonly port: number;
  /** User who opened it. */
  readonly uid: number;
}

/**
 * Lists the listening TCP sockets of these ports, by default of all, in the network namespace of this process; undefined if the system has no such
 * table. Detects a dead process without connecting to it.
 */
export function listListeningSockets(ports?: ReadonlySet<number>): readonly ListeningSocket[] | undefined {
  const found: ListeningSocket[] = [];
  let tables = 0;
  for (const table of TABLES) {
    const text = readTableStart(table);
    if (text === undefined) continue;
    tables += 1;
    found.push(...parseSocketTable(text, ports));
  }
  return tables > 0 ? found : undefined;
}

/** Listening sockets by port. */
export type SocketsByPort = ReadonlyMap<number, readonly ListeningSocket[]>;

/** Lists them by port. */
export function listListeningByPort(ports?: ReadonlySet<number>): SocketsByPort | undefined {
  const sockets = listListeningSockets(ports);
  if (!sockets) return undefined;
  const byPort = new Map<number, ListeningSocket[]>();
  for (const socket of sockets) {
    const known = byPort.get(socket.port);
    if (known) known.push(socket);
    else byPort.set(socket.port, [socket]);
  }
  return byPort;
}

/** Returns whether a socket listens at this IP address and port, or at the wildcard address. */
export function isListening(sockets: SocketsByPort, { address, port }: { address: string; port: number }): boolean {
  const wanted = normalizeAddress(address);
  const everywhere = wanted.includes(':') ? ['::'] : ['0.0.0.0', '::'];
  return (sockets.get(port) ?? []).some((one) => {
    const found = parseKernelAddress(one.address);
    return found === wanted || everywhere.includes(found);
  });
}

/** Returns an IP address in the form of `parseKernelAddress`. */
export function normalizeAddress(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

/** Returns whether an address belongs to this machine. */
export function isLocalAddress(address: string): boolean {
  if (address.startsWith('127.') || address === '::1') return true;
  return Object.values(networkInterfaces()).some((own = []) => own.some((one) => one.address === address));
}

/** Parses an address of the kernel's tables, such as `0100007F`. IPv4-mapped IPv6 addresses are returned as IPv4. */
export function parseKernelAddress(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  // Each 4-byte word is printed in the machine's byte order.
  const bytes = words.flatMap((word) => {
    const four = [...Buffer.from(word, 'hex')];
    return endianness() === 'LE' ? four.reverse() : four;
  });
  if (bytes.length === 4) return bytes.join('.');
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (isMapped) return bytes.slice(12).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  return normalizeAddress(groups.map((group) => group.toString(16)).join(':'));
}

/**
 * Parses the listening sockets of these ports at the beginning of a socket table: ` 12: ADDRESS:PORT ADDRESS:PORT STATE …`. Fields are found by their
 * places, since an agent may have thousands of listeners of its own in the table: only lines of the ports are taken apart.
 */
export function parseSocketTable(text: string, ports?: ReadonlySet<number>): readonly ListeningSocket[] {
  const found: ListeningSocket[] = [];
  for (let from = nextLine(text, 0); from < text.length; from = nextLine(text, from)) {
    const address = text.indexOf(':', from) + 2;
    const length = text.indexOf(':', address) - address;
    // Both addresses have one length, and each port four digits.
    const state = address + 2 * length + 12;
    if (text.slice(state, state + 2) !== LISTENING) break;
    const port = Number.parseInt(text.slice(address + length + 1, address + length + 5), 16);
    if (ports && !ports.has(port)) continue;
    const uid = text.slice(state, nextLine(text, state)).split(/\s+/)[4];
    found.push({ address: text.slice(address, address + length), port, uid: Number(uid) });
  }
  return found;
}

function nextLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end + 1;
}

/** Reads in this thread: a table has a part for each page of memory, and each would cost two changes to another thread. */
function readTableStart(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    const chunks: string[] = [];
    for (let size = 0; size < MAX_READ;) {
      const length = readSync(file, buffer);
      if (length === 0) break;
      const chunk = buffer.toString('latin1', 0, length);
      chunks.push(chunk);
      size += length;
      // The first line of a connection: listening sockets are listed before.
      if (/ (01|06|08) /.test(chunk)) break;
    }
    return chunks.join('');
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}
