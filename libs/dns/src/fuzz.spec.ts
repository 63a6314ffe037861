import { decode } from 'dns-packet';
import { createSocket } from 'node:dgram';
import fc from 'fast-check';
import { ask, question, sendUdp } from '../../../test/dns/ask';
import { DnsZone, generator, service } from '../../../test/dns/dns-zone';
import { a, answerTo, FakeUpstream } from '../../../test/dns/fake-upstream';

const redis = service('redis', { ip: '241.0.0.7', hostnames: ['redis.svc.mesh.local'] });
const bases = [
  question({ name: 'redis.svc.mesh.local' }),
  question({ name: '_redis._tcp.redis.svc.mesh.local', type: 'SRV', edns: 1232, dnssec: true }),
  question({ name: '7.0.0.241.in-addr.arpa', type: 'PTR', edns: 512 }),
  question({ name: 'www.example.com', type: 'TXT', recursion: false }),
];

/** A real question with some octets changed, cut, or with something behind it. */
const broken = fc
  .record({
    base: fc.constantFrom(...bases),
    edits: fc.array(fc.tuple(fc.nat(80), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
    keep: fc.integer({ min: 0, max: 120 }),
    tail: fc.uint8Array({ maxLength: 40 }),
  })
  .map(({ base, edits, keep, tail }) => {
    const packet = Buffer.from(base);
    for (const [at, octet] of edits) if (at < packet.length) packet[at] = octet;
    return Buffer.concat([packet.subarray(0, keep), tail]);
  });
const anything = fc.oneof({ weight: 4, arbitrary: broken }, fc.uint8Array({ maxLength: 600 }).map(Buffer.from));

describe('malformed packets', () => {
  let zone: DnsZone;
  beforeEach(async () => {
    zone = await new DnsZone(redis, generator('local', '{{ name }}.svc.mesh.local')).start();
  });
  afterEach(() => zone.close());

  test('over UDP get an answer under their id or none, and the next client gets its own', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anything, { minLength: 1, maxLength: 20 }), async (packets) => {
        for (const packet of packets) {
          if (packet.length < 12 || (packet.readUInt8(2) & 0x80) !== 0) {
            await expectSilence(zone, packet);
            continue;
          }
          const answer = await sendUdp(zone.port, packet);
          expect(answer.readUInt16BE(0)).toBe(packet.readUInt16BE(0));
          expect(answer.readUInt8(2) & 0x80).toBe(0x80);
          expect(() => decode(answer)).not.toThrow();
        }
        await probe(zone);
      }),
      { numRuns: 50 },
    );
  });
});

async function probe(zone: DnsZone): Promise<void> {
  expect((await ask(zone.port, { name: 'redis.svc.mesh.local' })).answers).toEqual(['A 241.0.0.7']);
}

/** No answer comes to a packet before that to a question that was sent after it. */
async function expectSilence(zone: DnsZone, packet: Buffer): Promise<void> {
  const socket = createSocket('udp4');
  const heard: number[] = [];
  const done = new Promise<void>((resolve) => {
    socket.on('message', (answer) => {
      heard.push(answer.readUInt16BE(0));
      if (heard.at(-1) === 4711) resolve();
    });
  });
  socket.send(packet, zone.port, '127.0.0.1');
  socket.send(question({ name: 'redis.svc.mesh.local' }), zone.port, '127.0.0.1');
  await done;
  socket.close();
  expect(heard).toEqual([4711]);
}

test('malformed answers of an upstream never reach a client, and harm nobody', async () => {
  const upstream = await new FakeUpstream().start();
  const zone = await new DnsZone(redis).start({ forward: { upstreams: [upstream.address], timeout: 5_000 } });
  await fc.assert(
    fc.asyncProperty(fc.array(anything, { maxLength: 10 }), fc.boolean(), async (packets, rightId) => {
      upstream.behaviour = (heard) => {
        const forged = packets.map((packet) => Buffer.from(packet));
        if (rightId) for (const packet of forged) if (packet.length >= 2) packet.writeUInt16BE(heard.id, 0);
        return [...forged, answerTo(heard, [a(heard)])];
      };
      expect((await ask(zone.port, { name: 'host.example.org' })).answers).toEqual(['A 192.0.2.1']);
    }),
    { numRuns: 50 },
  );
  await zone.close();
  await upstream.close();
});
