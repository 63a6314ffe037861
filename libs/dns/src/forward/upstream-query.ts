import { randomInt } from 'node:crypto';
import { encode } from 'dns-packet';
import { OUR_UDP_SIZE } from '../wire/reply';
import type { Question } from '../wire/question';

/** A question as it goes to an upstream: under an id of its own, without what was between the asker and us. */
export interface UpstreamQuery {
  readonly packet: Buffer;
  /** Where the question ends. */
  readonly end: number;
}

const HEADER = 12;
const OPT_LENGTH = 11;
const ID_SPACE = 65_536;

/** The query for an asker's question; EDNS is offered where the asker understands it. */
export function upstreamQuery(asked: Buffer, question: Question): UpstreamQuery {
  const { end, edns } = question;
  const packet = Buffer.alloc(end + (edns ? OPT_LENGTH : 0));
  packet.writeUInt16BE(randomInt(ID_SPACE), 0);
  // RD, AD and CD are the asker's wishes; TC, Z and the rest are not.
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

/** True when `answer` is an answer to `query`: its id, its question, a response. */
export function answersQuery(answer: Buffer, { packet, end }: UpstreamQuery): boolean {
  if (answer.length < end || answer.readUInt16BE(0) !== packet.readUInt16BE(0)) return false;
  if ((answer.readUInt8(2) & 0xf8) !== 0x80 || answer.readUInt16BE(4) !== 1) return false;
  const asked = packet.toString('latin1', HEADER, end - 4).toLowerCase();
  if (answer.toString('latin1', HEADER, end - 4).toLowerCase() !== asked) return false;
  return answer.compare(packet, end - 4, end, end - 4, end) === 0;
}

/** True when the answer was cut to fit. */
export function isTruncated(answer: Buffer): boolean {
  return (answer.readUInt8(2) & 0x02) !== 0;
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
