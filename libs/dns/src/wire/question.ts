import { Rcode, Type } from './codes';
import type { DnsName } from './dns-name';

/** The question of a query, and its EDNS options. */
export interface Question {
  readonly name: DnsName;
  readonly type: number;
  readonly class: number;
  /** Offset of the end of the question section: octets from 12 to here are echoed unchanged. */
  readonly end: number;
  readonly edns: Edns | undefined;
}

/** The client's EDNS(0) options (RFC 6891). */
export interface Edns {
  /** Maximum size of a UDP packet that the client accepts. */
  readonly size: number;
  readonly version: number;
  /** DNSSEC OK; echoed (RFC 3225 §3). */
  readonly dnssec: boolean;
}

/** A question, the response code for a query that cannot be answered, or `drop` for packets that get no reply. */
export type ReadQuestion = Question | { readonly rcode: number; readonly end: number } | 'drop';

const HEADER = 12;
const MAX_NAME_LENGTH = 255;
const OPT_LENGTH = 11;
/** Length of type, class, time to live and data length. */
const RECORD_LENGTH = 10;
const POINTER = 0xc0;

/**
 * Reads a query. Responses (QR) and packets shorter than a header are dropped, so that two servers never answer each
 * other in a loop. Exactly one question is read; of the other sections only OPT is used.
 */
export function readQuestion(packet: Buffer): ReadQuestion {
  if (packet.length < HEADER) return 'drop';
  const flags = packet.readUInt8(2);
  if (flags & 0x80) return 'drop';
  if (packet.readUInt16BE(4) !== 1) return { rcode: flags & 0x78 ? Rcode.NOTIMP : Rcode.FORMERR, end: HEADER };
  const nameEnd = endOfName(packet, HEADER);
  if (nameEnd === 0 || nameEnd + 4 > packet.length) return { rcode: Rcode.FORMERR, end: HEADER };
  const end = nameEnd + 4;
  if (flags & 0x78) return { rcode: Rcode.NOTIMP, end };
  const edns = readAdditional(packet, end);
  if (edns === 'malformed') return { rcode: Rcode.FORMERR, end: HEADER };
  return {
    name: packet.toString('latin1', HEADER, nameEnd - 1).toLowerCase(),
    type: packet.readUInt16BE(nameEnd),
    class: packet.readUInt16BE(nameEnd + 2),
    end,
    edns,
  };
}

/** Returns the offset after the name at `start`; 0 if it is malformed. With `pointers` the name may end with a pointer. */
function endOfName(packet: Buffer, start: number, pointers = false): number {
  let at = start;
  for (;;) {
    const length = packet[at];
    if (pointers && length !== undefined && length >= POINTER) return pointsBack(packet, at, start) ? at + 2 : 0;
    if (length === undefined || length > 63) return 0;
    at += 1 + length;
    if (at - start > MAX_NAME_LENGTH) return 0;
    if (length === 0) return at;
  }
}

function pointsBack(packet: Buffer, at: number, start: number): boolean {
  if (at + 2 > packet.length) return false;
  const target = packet.readUInt16BE(at) & 0x3fff;
  return target >= HEADER && target < start;
}

function readAdditional(packet: Buffer, end: number): Edns | undefined | 'malformed' {
  const additionals = packet.readUInt16BE(10);
  const others = packet.readUInt16BE(6) + packet.readUInt16BE(8);
  if (others === 0 && additionals === 0) return end === packet.length ? undefined : 'malformed';
  if (others === 0 && additionals === 1 && isOptToTheEnd(packet, end)) return optAt(packet, end);
  return readRecords(packet, end);
}

/** True if the rest of the packet is exactly one OPT record; its options are not read. */
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

/**
 * Reads the sections after the question, record by record. It follows no pointers and reads no record data, so the cost
 * is linear in the packet. Forward pointers, records that exceed the packet and a second OPT are malformed.
 */
function readRecords(packet: Buffer, end: number): Edns | undefined | 'malformed' {
  const others = packet.readUInt16BE(6) + packet.readUInt16BE(8);
  const records = others + packet.readUInt16BE(10);
  let at = end;
  let edns: Edns | undefined;
  for (let n = 0; n < records; n++) {
    const nameEnd = endOfName(packet, at, true);
    if (nameEnd === 0 || nameEnd + RECORD_LENGTH > packet.length) return 'malformed';
    if (n >= others && packet.readUInt16BE(nameEnd) === Type.OPT) {
      if (edns || nameEnd !== at + 1) return 'malformed';
      edns = optAt(packet, at);
    }
    at = nameEnd + RECORD_LENGTH + packet.readUInt16BE(nameEnd + 8);
    if (at > packet.length) return 'malformed';
  }
  return at === packet.length ? edns : 'malformed';
}
