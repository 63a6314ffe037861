import { open } from 'node:fs/promises';
import { endianness, networkInterfaces } from 'node:os';

/** Linux lists sockets that listen first, so the beginning is enough for so many of them, bytes. */
const MAX_READ = 1024 * 1024;
const LISTENING = '0A';
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;

/** A socket of this machine that listens. */
export interface ListeningSocket {
  /** As in the table: hexadecimal, in the byte order of the machine. */
  readonly address: string;
  readonly port: number;
  /** The user who made it. */
  readonly uid: number;
}

/**
 * The TCP sockets that listen on this machine, in the network namespace of this process; undefined where the system does not tell.
 * A process that dies is missed here at once, without a connection to it.
 */
export async function listeningSockets(): Promise<readonly ListeningSocket[] | undefined> {
  const found: ListeningSocket[] = [];
  let tables = 0;
  for (const table of TABLES) {
    const text = await readStartTime(table).catch(() => undefined);
    if (text === undefined) continue;
    tables += 1;
    found.push(...readTable(text));
  }
  return tables > 0 ? found : undefined;
}

/** Sockets that listen, by port. */
export type SocketsByPort = ReadonlyMap<number, readonly ListeningSocket[]>;

/** Such sockets by port. */
export async function listeningByPort(): Promise<SocketsByPort | undefined> {
  const sockets = await listeningSockets();
  if (!sockets) return undefined;
  const byPort = new Map<number, ListeningSocket[]>();
  for (const socket of sockets) {
    const known = byPort.get(socket.port);
    if (known) known.push(socket);
    else byPort.set(socket.port, [socket]);
  }
  return byPort;
}

/** Whether a connection to this IP address and port would find a socket that listens there, or at all addresses. */
export function isListening(sockets: SocketsByPort, { address, port }: { address: string; port: number }): boolean {
  const wanted = shortestAddress(address);
  const everywhere = wanted.includes(':') ? ['::'] : ['0.0.0.0', '::'];
  return (sockets.get(port) ?? []).some((one) => {
    const found = readableAddress(one.address);
    return found === wanted || everywhere.includes(found);
  });
}

/** An IP address as `readableAddress` writes it. */
export function shortestAddress(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

/** Whether an address is one of this machine. */
export function isAddressHere(address: string): boolean {
  if (address.startsWith('127.') || address === '::1') return true;
  return Object.values(networkInterfaces()).some((own = []) => own.some((one) => one.address === address));
}

/** An address of the kernel's tables, such as `0100007F`, as people write it; an IPv4 address in an IPv6 one as the former. */
export function readableAddress(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  // Each word of four bytes is printed as a number of the machine.
  const bytes = words.flatMap((word) => {
    const four = [...Buffer.from(word, 'hex')];
    return endianness() === 'LE' ? four.reverse() : four;
  });
  if (bytes.length === 4) return bytes.join('.');
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (isMapped) return bytes.slice(12).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  return shortestAddress(groups.map((group) => group.toString(16)).join(':'));
}

/** The listening sockets at the beginning of a table of the kernel. */
export function readTable(text: string): readonly ListeningSocket[] {
  const found: ListeningSocket[] = [];
  for (const line of text.split('\n').slice(1)) {
    const [, local = '', , state = '', , , , uid = ''] = line.trim().split(/\s+/);
    if (state === '') continue;
    if (state !== LISTENING) break;
    const [address = '', port = ''] = local.split(':');
    found.push({ address, port: Number.parseInt(port, 16), uid: Number(uid) });
  }
  return found;
}

async function readStartTime(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    while (size < MAX_READ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(64 * 1024));
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      chunks.push(chunk);
      size += bytesRead;
      // A line of a connection: those that listen are over.
      if (/ (01|06|08) /.test(chunk.toString('latin1'))) break;
    }
    return Buffer.concat(chunks).toString('latin1');
  } finally {
    await file.close();
  }
}
