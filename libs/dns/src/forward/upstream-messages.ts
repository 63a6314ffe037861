import { randomInt } from 'node:crypto';
import { encode } from 'dns-packet';
import { Rcode } from '../wire/codes';
import type { Question } from '../wire/question';
import { OUR_UDP_SIZE, sizeLimit, writeReply, type ReplyFormat } from '../wire/reply';

/** A query to an upstream: it has its own id and nothing that concerns only the client and this server. */
export interface UpstreamQuery {
  readonly packet: Buffer;
  /** Offset of the end of the question. */
  readonly end: number;
}

const HEADER = 12;
const OPT_LENGTH = 11;
const ID_SPACE = 65_536;
const RECURSION_AVAILABLE = 0x80;

/** Builds the upstream query for a client's question. It has EDNS if the client's query has. */
export function buildUpstreamQuery(asked: Buffer, question: Question): UpstreamQuery {
  const { end, edns } = question;
  const packet = Buffer.alloc(end + (edns ? OPT_LENGTH : 0));
  packet.writeUInt16BE(randomInt(ID_SPACE), 0);
  // RD, AD and CD are copied from the client; TC and Z are not.
  packet[2] = asked.readUInt8(2) & 0x01;
  packet[3] = asked.readUInt8(3) & 0x30;
  packet.writeUInt16BE(1, 4);
  asked.copy(packet, HEADER, HEADER, end);
  if (edns) {
    packet.writeUInt16BE(1, 10);
    optRecord(edns.dnssec).copy(packet, end);
  }
  return { packet, end };
}

/** True if `answer` is a response with the id and the question of `query`. */
export function answersQuery(answer: Buffer, { packet, end }: UpstreamQuery): boolean {
  if (answer.length < end || answer.readUInt16BE(0) !== packet.readUInt16BE(0)) return false;
  if ((answer.readUInt8(2) & 0xf8) !== 0x80 || answer.readUInt16BE(4) !== 1) return false;
  const asked = packet.toString('latin1', HEADER, end - 4).toLowerCase();
  if (answer.toString('latin1', HEADER, end - 4).toLowerCase() !== asked) return false;
  return answer.compare(packet, end - 4, end, end - 4, end) === 0;
}

/** True if the answer has the bit TC. */
export function isTruncated(answer: Buffer): boolean {
  return (answer.readUInt8(2) & 0x02) !== 0;
}

/** True for response codes that concern the upstream and not the name: another upstream may answer. */
export function isWorthAnotherTry(answer: Buffer): boolean {
  const rcode = answer.readUInt8(3) & 0x0f;
  return rcode === Rcode.SERVFAIL || rcode === Rcode.REFUSED || rcode === Rcode.NOTIMP;
}

/** Builds the reply to the client: the upstream's answer with the client's id and spelling, truncated with TC if it does not fit. */
export function replyFromUpstream(answer: Buffer, packet: Buffer, shape: ReplyFormat): Buffer {
  const rcode = answer.readUInt8(3) & 0x0f;
  if (answer.length > sizeLimit(shape.edns, shape.udp)) {
    const body = answer.subarray(shape.end);
    const cut = { rcode, authoritative: false, answers: 0, authorities: 0, additionals: 0, body, core: body.length };
    return writeReply(packet, cut, shape);
  }
  const out = Buffer.from(answer);
  packet.copy(out, 0, 0, 2);
  out[3] = answer.readUInt8(3) | RECURSION_AVAILABLE;
  packet.copy(out, HEADER, HEADER, shape.end);
  return out;
}

function optRecord(dnssec: boolean): Buffer {
  const record = {
    type: 'OPT' as const,
    name: '.',
    udpPayloadSize: OUR_UDP_SIZE,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: dnssec ? 0x8000 : 0,
    flag_do: dnssec,
    options: [],
  };
  return encode({ type: 'query', additionals: [record] }).subarray(HEADER);
}
