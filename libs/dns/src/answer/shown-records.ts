import type { JsonObject } from '@causeway/resources';
import { decode, type Answer } from 'dns-packet';
import { writeReply } from '../wire/reply';
import type { DnsName } from '../wire/dns-name';
import type { EncodedAnswer } from '../wire/encoded-answer';

/** The answer records as people write them, read back from the packet that an asker would get. */
export function shownRecords(name: DnsName, type: number, found: EncodedAnswer): JsonObject[] {
  const question = queryFor(name, type);
  const packet = writeReply(question, found, { end: question.length, edns: undefined, udp: false, recursion: false });
  return (decode(packet).answers ?? []).map((answer) => ({
    name: answer.name,
    type: answer.type,
    ttl: 'ttl' in answer ? (answer.ttl ?? 0) : 0,
    data: shown(answer),
  }));
}

/** A query packet that asks one question of class IN. */
export function queryFor(name: DnsName, type: number): Buffer {
  const header = Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const end = Buffer.from([0, type >> 8, type & 0xff, 0, 1]);
  return Buffer.concat([header, Buffer.from(name, 'latin1'), end]);
}

function shown(answer: Answer): string {
  switch (answer.type) {
    case 'A':
    case 'AAAA':
    case 'NS':
    case 'PTR':
      return answer.data;
    case 'SRV':
      return `${answer.data.priority ?? 0} ${answer.data.weight ?? 0} ${answer.data.port} ${answer.data.target}`;
    case 'TXT':
      return [answer.data]
        .flat()
        .map((text) => JSON.stringify(text.toString()))
        .join(' ');
    case 'SOA':
      return Object.values(answer.data).join(' ');
    default:
      return '';
  }
}
