import { isIPv4 } from 'node:net';

/**
 * A domain name in wire format, in lower case and without the root's zero octet: length, label, length, label. It is a
 * string, so that it can be a map key. Unlike dotted text it is unambiguous for labels that contain a dot. The root is
 * the empty string.
 */
export type DnsName = string;

const MAX_WIRE_NAME_LENGTH = 254;
const SCRATCH = Buffer.alloc(MAX_WIRE_NAME_LENGTH + 64);

/** Parses dotted text, with or without a trailing dot; undefined if a label or the name is too long or empty. */
export function parseDnsName(text: string): DnsName | undefined {
  const plain = text.endsWith('.') ? text.slice(0, -1) : text;
  if (plain === '') return text === '' ? undefined : '';
  if (plain.length > MAX_WIRE_NAME_LENGTH - 1 || /[^\x21-\x7e]/.test(plain)) return undefined;
  return join(plain.toLowerCase().split('.'));
}

/** Formats a name as dotted text without a trailing dot; the root is `.`, unprintable octets are `\ddd`. */
export function formatDnsName(wire: DnsName): string {
  if (wire === '') return '.';
  const labels: string[] = [];
  for (let at = 0; at < wire.length; at += 1 + wire.charCodeAt(at))
    labels.push(escapeLabel(wire.slice(at + 1, at + 1 + wire.charCodeAt(at))));
  return labels.join('.');
}

/** Returns the name without its first label; the parent of the root is the root. */
export function parentName(wire: DnsName): DnsName {
  return wire === '' ? '' : wire.slice(1 + wire.charCodeAt(0));
}

/** Returns the first label; empty for the root. */
export function firstLabel(wire: DnsName): string {
  return wire === '' ? '' : wire.slice(1, 1 + wire.charCodeAt(0));
}

/** Returns the owner name of the PTR records of an address (RFC 1035 §3.5, 3596 §2.5); `ip` must be an address. */
export function reverseName(ip: string): DnsName {
  const labels = isIPv4(ip)
    ? [...ip.split('.').reverse(), 'in-addr', 'arpa']
    : [...nibbles(ip).reverse(), 'ip6', 'arpa'];
  return join(labels) ?? '';
}

/** Returns the 32 hexadecimal digits of an IPv6 address in order. */
export function nibbles(ip: string): string[] {
  const [head = '', tail] = withoutDottedEnd(ip).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...gap, ...right].flatMap((group) => [...group.toLowerCase().padStart(4, '0')]);
}

/** Uses a buffer, because a string made by concatenation keeps all its parts in memory. */
function join(labels: readonly string[]): DnsName | undefined {
  let end = 0;
  for (const label of labels) {
    if (label.length === 0 || label.length > 63) return undefined;
    SCRATCH[end] = label.length;
    SCRATCH.write(label, end + 1, 'latin1');
    end += 1 + label.length;
  }
  return SCRATCH.toString('latin1', 0, end);
}

function withoutDottedEnd(ip: string): string {
  const dotted = /\d+\.\d+\.\d+\.\d+$/.exec(ip)?.[0];
  if (dotted === undefined) return ip;
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return ip.slice(0, -dotted.length) + `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function escapeLabel(label: string): string {
  return label.replace(/[^\x21-\x7e]|[.\\]/g, (char) =>
    char === '.' || char === '\\' ? `\\${char}` : `\\${String(char.charCodeAt(0)).padStart(3, '0')}`,
  );
}
