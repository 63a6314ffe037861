import { readQuestion } from '../../../libs/dns/src/wire/question';
import { FrameReader } from '../../../libs/dns/src/wire/tcp-frames';
import { formatDnsName, parseDnsName } from '../../../libs/dns/src/wire/dns-name';
import type { Prng } from '../../simulation/engine/prng';
import { takesText, type EntryPoint, type Shape } from '../entry-point';
import { textShapes } from '../shapes/texts';

/** The length of a packet over TCP has 16 bits. */
const PACKET = 65_535;

const QUESTION = Buffer.from('0000010000010000000000000161016200001000 01'.replace(/ /g, ''), 'hex');

/** Packets as they come from the network, and names that people ask for over REST. */
export function dnsEntries(draw: Prng): EntryPoint[] {
  return [
    { name: 'DNS packet', largest: PACKET, shapes: packetShapes(draw) },
    { name: 'DNS over TCP: frames', largest: 1024 * 1024, shapes: frameShapes() },
    takesText('name of a DNS lookup', 16 * 1024, textShapes(draw), (text) => {
      const name = parseDnsName(text);
      return name === undefined ? undefined : formatDnsName(name);
    }),
  ];
}

function packetShapes(draw: Prng): Shape[] {
  const counts = [
    ['answers', 6],
    ['authorities', 8],
    ['additionals', 10],
  ] as const;
  const records: readonly (readonly [string, Buffer])[] = [
    ['roots', Buffer.from([0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])],
    ['pointers', Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4])],
    [
      'long names',
      Buffer.concat([
        Buffer.from([0x3f]),
        Buffer.alloc(63, 'a'),
        Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, 0, 0]),
      ]),
    ],
    ['TXT', Buffer.concat([Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, 0, 200]), Buffer.alloc(200, 1)])],
    ['OPT', Buffer.concat([Buffer.from([0, 0, 41, 4, 0, 0, 0, 0, 0, 0, 8]), Buffer.from([0, 10, 0, 4, 1, 2, 3, 4])])],
    ['NSEC', Buffer.concat([Buffer.from([0xc0, 12, 0, 47, 0, 1, 0, 0, 0, 0, 0, 35, 0, 0, 32]), Buffer.alloc(32, 255)])],
    ['drawn', Buffer.from(Array.from({ length: 16 }, () => draw.between(0, 255)))],
    ['pointers to pointers', Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 2, 0xc0, 12])],
  ];
  return [
    ...counts.flatMap(([section, at]) =>
      records.map(([name, record]) =>
        packetShape(`${section}: ${name}`, (packet) => packet.writeUInt16BE(0xffff, at), record),
      ),
    ),
    packetShape(
      'exact number of answers',
      (packet, record) => packet.writeUInt16BE(Math.floor(packet.length / record), 6),
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4]),
    ),
    packetShape('no record', () => undefined, Buffer.from([0])),
    packetShape('questions', (packet) => packet.writeUInt16BE(0xffff, 4), QUESTION.subarray(12)),
    {
      name: 'a chain of pointers',
      prepare: (size) => {
        const packet = Buffer.alloc(Math.max(size, 64));
        QUESTION.copy(packet);
        for (let at = QUESTION.length; at + 2 < Math.min(packet.length, 16_384); at += 2)
          packet.writeUInt16BE(0xc000 | (at === QUESTION.length ? 12 : at - 2), at);
        packet.writeUInt16BE(1, 10);
        return () => readQuestion(packet);
      },
    },
    {
      name: 'records whose names point into a chain of pointers',
      prepare: (size) => {
        const packet = chainedPacket(Math.max(size, 64));
        return () => readQuestion(packet);
      },
    },
  ];
}

/** One record whose data are a chain of pointers, each to the one before, then records whose names are its end. */
export function chainedPacket(size: number): Buffer {
  const [packet, data] = [Buffer.alloc(size), QUESTION.length + 11];
  QUESTION.copy(packet);
  const links = Math.floor((Math.min(size, 32_768) / 2 - data) / 2);
  packet.writeUInt16BE(2 * links, data - 2);
  for (let n = 0; n < links; n++) packet.writeUInt16BE(0xc000 | (n === 0 ? 12 : data + 2 * (n - 1)), data + 2 * n);
  const records = Math.floor((size - data - 2 * links) / 12);
  for (let n = 0; n < records; n++) packet.writeUInt16BE(0xc000 | (data + 2 * (links - 1)), data + 2 * links + 12 * n);
  packet.writeUInt16BE(1 + records, 8);
  return packet.subarray(0, data + 2 * links + 12 * records);
}

function packetShape(name: string, mark: (packet: Buffer, record: number) => unknown, record: Buffer): Shape {
  return {
    name,
    prepare: (size) => {
      const times = Math.floor((size - QUESTION.length) / record.length);
      const packet = Buffer.concat([QUESTION, ...Array<Buffer>(Math.max(0, times)).fill(record)]);
      mark(packet, record.length);
      return () => readQuestion(packet);
    },
  };
}

function frameShapes(): Shape[] {
  const pieces: readonly (readonly [string, Buffer, number])[] = [
    ['empty packets', Buffer.alloc(2), 65_536],
    ['one octet at a time', Buffer.from([0xff, 0xff, 0]), 1],
    ['packets of 65,535', Buffer.concat([Buffer.from([0xff, 0xff]), Buffer.alloc(65_535)]), 1_460],
  ];
  return pieces.map(([name, piece, step]) => ({
    name,
    prepare: (size) => {
      const stream = Buffer.concat(Array<Buffer>(Math.ceil(size / piece.length)).fill(piece)).subarray(0, size);
      return () => {
        const reader = new FrameReader();
        for (let at = 0; at < stream.length; at += step) reader.read(stream.subarray(at, at + step));
      };
    },
  }));
}
