import type { EncodedAnswer } from './encoded-answer';
import type { Edns } from './question';

/** Maximum size of UDP packets that are sent and announced: one Ethernet frame, even with IPv6 and tunnels. */
export const OUR_UDP_SIZE = 1_232;
const PLAIN_UDP_SIZE = 512;
const HEADER = 12;
/** Shorter buffers are copied by a loop. */
const LONG = 96;
const OPT_LENGTH = 11;

/** Inputs of a reply besides the answer. */
export interface ReplyFormat {
  /** Offset of the end of the echoed question; 12 if no question is echoed. */
  readonly end: number;
  readonly edns: Edns | undefined;
  readonly udp: boolean;
  /** The bit RA: the server offers recursion to this client. */
  readonly recursion: boolean;
}

/** Returns the maximum size of a packet that the client accepts. */
export function sizeLimit(edns: Edns | undefined, udp: boolean): number {
  if (!udp) return 65_535;
  if (!edns) return PLAIN_UDP_SIZE;
  return Math.min(Math.max(edns.size, PLAIN_UDP_SIZE), OUR_UDP_SIZE);
}

/**
 * Builds the packet of a reply: the client's id, RD, CD and question unchanged, then the answer. Records that do not
 * fit are left out: additional records silently, all others with TC (RFC 2181 §9).
 */
export function writeReply(packet: Buffer, found: EncodedAnswer, shape: ReplyFormat): Buffer {
  const { end, edns } = shape;
  const opt = edns ? OPT_LENGTH : 0;
  const room = sizeLimit(edns, shape.udp) - end - opt;
  const whole = found.body.length <= room;
  const core = whole || found.core <= room;
  const length = whole ? found.body.length : core ? found.core : 0;
  const out = Buffer.allocUnsafe(end + length + opt);
  copy(packet, 0, { to: out, at: 0, length: 4 });
  out[2] = 0x80 | ((packet[2] ?? 0) & 0x79) | (found.authoritative ? 0x04 : 0) | (core ? 0 : 0x02);
  out[3] = (shape.recursion ? 0x80 : 0) | ((packet[3] ?? 0) & 0x10) | (found.rcode & 0x0f);
  out.writeUInt16BE(end > HEADER ? 1 : 0, 4);
  out.writeUInt16BE(core ? found.answers : 0, 6);
  out.writeUInt16BE(core ? found.authorities : 0, 8);
  out.writeUInt16BE((whole ? found.additionals : 0) + (edns ? 1 : 0), 10);
  if (end > HEADER) copy(packet, HEADER, { to: out, at: HEADER, length: end - HEADER });
  if (length > 0) copy(found.body, 0, { to: out, at: end, length });
  if (edns) writeOpt(out, { at: end + length, rcode: found.rcode, dnssec: edns.dnssec });
  return out;
}

/** Copies a part of a buffer; for the short pieces of most answers a loop is faster than `Buffer.copy`. */
function copy(
  from: Buffer,
  start: number,
  { to, at, length }: { readonly to: Buffer; readonly at: number; readonly length: number },
): void {
  if (length > LONG) from.copy(to, at, start, start + length);
  else for (let i = 0; i < length; i++) to[at + i] = from[start + i] ?? 0;
}

function writeOpt(out: Buffer, opt: { readonly at: number; readonly rcode: number; readonly dnssec: boolean }): void {
  const { at } = opt;
  out[at] = 0;
  out.writeUInt16BE(41, at + 1);
  out.writeUInt16BE(OUR_UDP_SIZE, at + 3);
  out[at + 5] = opt.rcode >> 4;
  out[at + 6] = 0;
  out.writeUInt16BE(opt.dnssec ? 0x8000 : 0, at + 7);
  out.writeUInt16BE(0, at + 9);
}
