import { FakeClock } from '@causeway/runtime/testing';
import { ask } from '../../../../test/dns/ask';
import { DnsZone, service } from '../../../../test/dns/dns-zone';
import { FrameReader, frameMessage } from '../wire/tcp-frames';
import { RateLimit } from '../answer/responder';

describe('the rate of one client', () => {
  test('is counted by the second, each client by itself', () => {
    const clock = new FakeClock();
    const rate = new RateLimit(2, clock);
    const admitted = (client: string): boolean[] => [1, 2, 3].map(() => rate.admits(client));
    expect(admitted('a')).toEqual([true, true, false]);
    expect(admitted('b')).toEqual([true, true, false]);
    clock.advance(999);
    expect(rate.admits('a')).toBe(false);
    clock.advance(1);
    expect(admitted('a')).toEqual([true, true, false]);
    rate.close();
    expect(clock.pending).toBe(0);
  });

  test('is not counted where there is no limit', () => {
    const clock = new FakeClock();
    const rate = new RateLimit(0, clock);
    expect([rate.admits('a'), rate.admits('a'), clock.pending]).toEqual([true, true, 0]);
  });

  test('of forged clients without number does not fill the memory, and known ones stay limited', () => {
    const rate = new RateLimit(1, new FakeClock());
    rate.admits('known');
    for (let i = 0; i < 100_000; i++) rate.admits(`forged ${i}`);
    expect(rate.admits('known')).toBe(false);
    expect(rate.size).toBeLessThanOrEqual(65_536);
  });

  test('above the limit gets no answer, and is counted', async () => {
    const clock = new FakeClock();
    const redis = service('redis', { ip: '241.0.0.7', hostnames: ['redis.mesh.local'] });
    const zone = await new DnsZone(redis).start({ limits: { ratePerClient: 2 } }, { clock });
    await ask(zone.port, { name: 'redis.mesh.local' });
    await ask(zone.port, { name: 'redis.mesh.local' });
    await expect(ask(zone.port, { name: 'redis.mesh.local', tcp: true })).rejects.toThrow('closed');
    expect(zone.metric('dns_dropped_total', { reason: 'rate' })).toBe(1);
    clock.advance(1_000);
    expect((await ask(zone.port, { name: 'redis.mesh.local' })).answers).toEqual(['A 241.0.0.7']);
    await zone.close();
  });
});

describe('frames', () => {
  const packets = [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(700, 7)];
  const stream = Buffer.concat(packets.map(frameMessage));

  test.each([1, 2, 3, 5, 100, stream.length])('come out as they went in, in pieces of %i', (size) => {
    const reader = new FrameReader();
    const got: Buffer[] = [];
    for (let at = 0; at < stream.length; at += size) got.push(...reader.read(stream.subarray(at, at + size)));
    expect(got.map((packet) => packet.toString('hex'))).toEqual(packets.map((packet) => packet.toString('hex')));
  });
});
