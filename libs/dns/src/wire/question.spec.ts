import { encode } from 'dns-packet';
import fc from 'fast-check';
import { question } from '../../../../test/dns/ask';
import { chainedPacket } from '../../../../test/cost/entries/dns';
import { readQuestion } from './question';

const plain = question({ name: 'Redis.svc.mesh.local', type: 'SRV' });

test('a plain question is read as it stands', () => {
  expect(readQuestion(plain)).toEqual({
    name: '\x05redis\x03svc\x04mesh\x05local',
    type: 33,
    class: 1,
    end: plain.length,
    edns: undefined,
  });
});

test('EDNS is read, whatever options it has', () => {
  const cookie = Buffer.from([0, 0, 41, 16, 0, 0, 0, 128, 0, 0, 12, 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]);
  const packet = Buffer.concat([plain, cookie]);
  packet.writeUInt16BE(1, 10);
  expect(readQuestion(packet)).toMatchObject({ end: plain.length, edns: { size: 4096, version: 0, dnssec: true } });
});

test('EDNS is found behind other records', () => {
  const opt = {
    type: 'OPT' as const,
    name: '.',
    udpPayloadSize: 1400,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  };
  const packet = encode({
    type: 'query',
    questions: [{ type: 'A', name: 'a.mesh.local' }],
    authorities: [{ type: 'TXT', name: 'x', data: 'y' }],
    additionals: [opt],
  });
  expect(readQuestion(packet)).toMatchObject({ edns: { size: 1400 } });
});

test('names behind the question may end with a pointer, which nobody follows', () => {
  const packet = chainedPacket(65_000);
  expect(readQuestion(packet)).toMatchObject({ name: '\x01a\x01b', edns: undefined });
  // The first of these records claims to end after the packet.
  packet.writeUInt16BE(0xffff, packet.length - 2);
  expect(readQuestion(packet)).toEqual({ rcode: 1, end: 12 });
});

test.each([
  ['forward', 0xc0ff],
  ['to itself', 0xc000 + plain.length],
  ['into the header', 0xc00b],
])('a name behind the question that points %s is malformed', (_, pointer) => {
  const record = Buffer.alloc(12);
  record.writeUInt16BE(pointer, 0);
  const packet = Buffer.concat([plain, record]);
  packet.writeUInt16BE(1, 8);
  expect(readQuestion(packet)).toEqual({ rcode: 1, end: 12 });
});

test.each([
  ['a packet shorter than a header', Buffer.alloc(11), 'drop'],
  ['an answer', edited(2, 0x80), 'drop'],
  ['a pointer for a name', edited(12, 0xc0), { rcode: 1, end: 12 }],
  ['an unknown kind of label', edited(12, 0x41), { rcode: 1, end: 12 }],
  ['a name without end', plain.subarray(0, 20), { rcode: 1, end: 12 }],
  ['a type without class', plain.subarray(0, plain.length - 2), { rcode: 1, end: 12 }],
  ['a name of 256 octets', named([62, 62, 62, 62], 2), { rcode: 1, end: 12 }],
  ['two EDNS records', doubleOpt(), { rcode: 1, end: 12 }],
  ['records that are not there', edited(7, 3), { rcode: 1, end: 12 }],
  ['a notify', edited(2, 4 << 3), { rcode: 4, end: plain.length }],
] as const)('%s', (_what, packet, want) => {
  expect(readQuestion(packet)).toEqual(want);
});

test('the longest name there is', () => {
  expect(readQuestion(named([63, 63, 63, 61], 0))).toMatchObject({ type: 1 });
});

function edited(at: number, octet: number): Buffer {
  const packet = Buffer.from(plain);
  packet[at] = octet;
  return packet;
}

/** A question about labels of these lengths, and one of `last` octets. */
function named(lengths: readonly number[], last: number): Buffer {
  const labels = [...lengths, ...(last > 0 ? [last] : [])].map((length) =>
    Buffer.from([length, ...Array<number>(length).fill(97)]),
  );
  return Buffer.concat([plain.subarray(0, 12), ...labels, Buffer.from([0, 0, 1, 0, 1])]);
}

function doubleOpt(): Buffer {
  const opt = Buffer.from([0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0]);
  const packet = Buffer.concat([plain, opt, opt]);
  packet.writeUInt16BE(2, 10);
  return packet;
}

test('no octets make it throw, and what it reads lies within them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => {
      const packet = Buffer.from(octets);
      const read = readQuestion(packet);
      if (read === 'drop') return;
      expect(read.end).toBeGreaterThanOrEqual(12);
      expect(read.end).toBeLessThanOrEqual(packet.length);
    }),
    { numRuns: 2_000 },
  );
});
