import { decode } from 'dns-packet';
import { Rcode, Type } from './codes';
import type { WireName } from './wire-name';

/** What a packet asks, and how its answer may look. */
export interface Question {
  readonly name: WireName;
  readonly type: number;
  readonly class: number;
  /** Where the question section ends: octets 12 to here are echoed as they came. */
  readonly end: number;
  readonly edns: Edns | undefined;
}

/** What the asker says by EDNS(0) (RFC 6891). */
export interface Edns {
  /** The largest UDP answer it takes. */
  readonly size: number;
  readonly version: number;
  /** DNSSEC OK; echoed (RFC 3225 §3). */
  readonly dnssec: boolean;
}

/** A question, a response code for a packet that asks nothing we can answer, or `drop`: no answer at all. */
export type ReadQuestion = Question | { readonly rcode: number; readonly end: number } | 'drop';

const HEADER = 12;
const LONGEST_NAME = 255;
const OPT_LENGTH = 11;

/**
 * Reads a query. Answers (QR) and stumps are dropped, so that no two servers ever talk in circles; one question is
 * read here octet by octet, which is what nearly all packets are; sections behind it are judged by dns-packet.
 */
export function readQuestion(packet: Buffer): ReadQuestion {
  if (packet.length < HEADER) return 'drop';
  const flags = packet.readUInt8(2);
  if (flags & 0x80) return 'drop';
  if (packet.readUInt16BE(4) !== 1) return { rcode: flags & 0x78 ? Rcode.NOTIMP : Rcode.FORMERR, end: HEADER };
  const nameEnd = endOfName(packet);
  if (nameEnd === 0 || nameEnd + 4 > packet.length) return { rcode: Rcode.FORMERR, end: HEADER };
  const end = nameEnd + 4;
  if (flags & 0x78) return { rcode: Rcode.NOTIMP, end };
  const edns = readBehind(packet, end);
  if (edns === 'malformed') return { rcode: Rcode.FORMERR, end: HEADER };
  return {
    name: packet.toString('latin1', HEADER, nameEnd - 1).toLowerCase(),
    type: packet.readUInt16BE(nameEnd),
    class: packet.readUInt16BE(nameEnd + 2),
    end,
    edns,
  };
}

/** The offset behind the name's zero octet; 0 when it is no plain name (a pointer has nowhere to point to here). */
function endOfName(packet: Buffer): number {
  let at = HEADER;
  for (;;) {
    const length = packet[at];
    if (length === undefined || length > 63) return 0;
    at += 1 + length;
    if (at - HEADER > LONGEST_NAME) return 0;
    if (length === 0) return at;
  }
}

function readBehind(packet: Buffer, end: number): Edns | undefined | 'malformed' {
  const additionals = packet.readUInt16BE(10);
  const others = packet.readUInt16BE(6) + packet.readUInt16BE(8);
  if (others === 0 && additionals === 0) return end === packet.length ? undefined : 'malformed';
  if (others === 0 && additionals === 1 && isOptToTheEnd(packet, end)) return optAt(packet, end);
  return decodeBehind(packet);
}

/** True when all that follows is one OPT record; its options are for others to read. */
function isOptToTheEnd(packet: Buffer, at: number): boolean {
  if (packet.length < at + OPT_LENGTH || packet[at] !== 0 || packet.readUInt16BE(at + 1) !== Type.OPT) return false;
  return at + OPT_LENGTH + packet.readUInt16BE(at + 9) === packet.length;
}

function optAt(packet: Buffer, at: number): Edns {
  return {
    size: packet.readUInt16BE(at + 3),
    version: packet.readUInt8(at + 6),
    dnssec: (packet.readUInt8(at + 7) & 0x80) !== 0,
  };
}

function decodeBehind(packet: Buffer): Edns | undefined | 'malformed' {
  try {
    const decoded = decode(packet);
    const opts = (decoded.additionals ?? []).flatMap((record) => (record.type === 'OPT' ? [record] : []));
    const [opt] = opts;
    if (opts.length > 1 || decode.bytes !== packet.length) return 'malformed';
    return opt && { size: opt.udpPayloadSize, version: opt.ednsVersion, dnssec: opt.flag_do };
  } catch {
    return 'malformed';
  }
}
