import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, question, read, sendUdp } from '../../../../test/dns/ask';
import { DnsZone, generator, service } from '../../../../test/dns/dns-zone';
import { a, answerTo, FakeUpstream } from '../../../../test/dns/fake-upstream';
import { until } from '../../../../test/support/until';
import { silentLogger, systemClock, type Clock } from '@causeway/runtime';
import { DEFAULT_DNS_CONFIG, type ForwardConfig } from '../dns-config';
import { Forwarder } from './forwarder';
import { Resolvers } from './resolvers';

const TRUNCATED = 0x0200;
const SERVFAIL = 2;
const NXDOMAIN = 3;
const name = 'www.example.com';

let first: FakeUpstream;
let second: FakeUpstream;
let zone: DnsZone;

beforeEach(async () => {
  first = await new FakeUpstream().start();
  second = await new FakeUpstream().start();
});

afterEach(async () => {
  await zone.close();
  await first.close();
  await second.close();
});

/** A port of the address is free as long as the same port of 127.0.0.1 is held by the test. */
const ELSEWHERE = '127.0.0.9';

async function zoneWith(forward: Partial<ForwardConfig> = {}, clock: Clock = systemClock): Promise<void> {
  const redis = service('redis', { ip: '241.0.0.7', hostnames: ['redis.svc.mesh.local'] });
  const upstreams = [first.address, second.address];
  const config = { forward: { upstreams, timeout: 20_000, ...forward } };
  zone = await new DnsZone(redis, generator('local', '{{ name }}.svc.mesh.local')).start(config, { clock });
}

describe('what is not ours', () => {
  test('is asked of the first upstream, and its answer given in the spelling of the client', async () => {
    await zoneWith();
    first.behaviour = (heard) => {
      const lowered = { ...heard, question: { ...heard.question, name: heard.question.name.toLowerCase() } };
      return [answerTo(lowered, [a(lowered)])];
    };
    const reply = await ask(zone.port, { name: 'WWW.Example.com' });
    expect([reply.rcode, reply.answers, reply.packet.flag_ra, reply.packet.id]).toEqual([
      'NOERROR',
      ['A 192.0.2.1'],
      true,
      4711,
    ]);
    expect(reply.packet.questions?.[0]?.name).toBe('WWW.Example.com');
    expect([first.heard.length, second.heard.length]).toEqual([1, 0]);
    expect(zone.metric('dns_forwarded_total', { result: 'answered' })).toBe(1);
  });

  test('never is what is ours', async () => {
    await zoneWith();
    for (const each of ['redis.svc.mesh.local', 'nobody.svc.mesh.local', 'mesh.local'])
      await ask(zone.port, { name: each });
    expect(first.heard).toEqual([]);
  });

  test('goes out under ids and from ports that nobody can tell', async () => {
    await zoneWith();
    for (let i = 0; i < 40; i++) await ask(zone.port, { name: `n${i}.example.com` });
    expect(new Set(first.heard.map(({ id }) => id)).size).toBeGreaterThan(35);
    expect(new Set(first.heard.map(({ port }) => port)).size).toBeGreaterThan(35);
  });

  test('is asked with the wishes of the client and nothing else of it', async () => {
    await zoneWith();
    await ask(zone.port, { name, edns: 4096, dnssec: true });
    const packet = read(first.heard[0]?.packet ?? Buffer.alloc(0)).packet;
    expect(packet.additionals).toEqual([
      expect.objectContaining({ type: 'OPT', udpPayloadSize: 1232, flag_do: true, options: [] }),
    ]);
    expect(packet.flag_rd).toBe(true);
  });

  test('is not asked for a client that does not want recursion', async () => {
    await zoneWith();
    expect((await ask(zone.port, { name, recursion: false })).rcode).toBe('REFUSED');
    expect(first.heard).toEqual([]);
  });

  test('is one question when many ask it at once', async () => {
    await zoneWith({ timeout: 300 });
    first.behaviour = () => [];
    const asked = Array.from({ length: 20 }, () => ask(zone.port, { name }));
    await until('the question under way', () => first.heard.length === 1);
    first.behaviour = (heard) => [answerTo(heard, [a(heard)])];
    const replies = await Promise.all(asked);
    expect(replies.map(({ answers }) => answers)).toEqual(Array(20).fill(['A 192.0.2.1']));
    expect(first.heard.length + second.heard.length).toBeLessThanOrEqual(3);
  });
});

describe('answers that are none', () => {
  test.each([
    ['another id', (heard) => answerTo({ ...heard, id: heard.id ^ 1 }, [a(heard, '192.0.2.66')])],
    [
      'another name',
      (heard) => answerTo({ ...heard, question: { type: 'A', name: 'evil.example' } }, [a(heard, '192.0.2.66')]),
    ],
    ['another type', (heard) => answerTo({ ...heard, question: { type: 'TXT', name } }, [a(heard, '192.0.2.66')])],
    ['a question', (heard) => Buffer.from(heard.packet)],
    ['a packet shorter than a header', () => Buffer.from([1, 2, 3])],
  ] as [string, (heard: Parameters<FakeUpstream['behaviour']>[0]) => Buffer][])(
    'with %s are passed over, the real one is heard',
    async (_what, forged) => {
      await zoneWith();
      first.behaviour = (heard) => [forged(heard), answerTo(heard, [a(heard)])];
      expect((await ask(zone.port, { name })).answers).toEqual(['A 192.0.2.1']);
      expect(second.heard).toEqual([]);
    },
  );
});

describe('truncation', () => {
  const many = (count: number) => (heard: Parameters<FakeUpstream['behaviour']>[0]) =>
    Array.from({ length: count }, (_, i) => a(heard, `192.0.2.${i + 1}`));

  test('by the upstream is asked again over TCP', async () => {
    await zoneWith();
    first.behaviour = (heard) => [heard.tcp ? answerTo(heard, many(5)(heard)) : answerTo(heard, [], TRUNCATED)];
    const reply = await ask(zone.port, { name });
    expect([reply.packet.flag_tc, reply.answers.length]).toEqual([false, 5]);
    expect(first.heard.map(({ tcp }) => tcp)).toEqual([false, true]);
  });

  test('is ours where the answer is too long for the client', async () => {
    await zoneWith();
    first.behaviour = (heard) => [heard.tcp ? answerTo(heard, many(100)(heard)) : answerTo(heard, [], TRUNCATED)];
    const cut = await ask(zone.port, { name, edns: 4096 });
    expect([cut.packet.flag_tc, cut.answers, cut.packet.additionals?.length]).toEqual([true, [], 1]);
    expect((await ask(zone.port, { name, tcp: true })).answers.length).toBe(100);
  });
});

describe('upstreams', () => {
  test('are asked in turn: a silent one, one that refuses, one that fails', async () => {
    await zoneWith({ timeout: 1_000 });
    for (const behaviour of [
      () => [],
      (heard) => [answerTo(heard, [], SERVFAIL)],
      (heard) => [answerTo(heard, [], 5)],
    ] as FakeUpstream['behaviour'][]) {
      first.behaviour = behaviour;
      expect((await ask(zone.port, { name })).answers).toEqual(['A 192.0.2.1']);
    }
  });

  test('say that a name does not exist, and are believed', async () => {
    await zoneWith();
    first.behaviour = (heard) => [answerTo(heard, [], NXDOMAIN)];
    expect((await ask(zone.port, { name })).rcode).toBe('NXDOMAIN');
    expect(second.heard).toEqual([]);
  });

  test('that do not answer are in cooldown, and are asked again after it', async () => {
    let elapsed = 0;
    await zoneWith({ timeout: 500 }, { ...systemClock, elapsed: () => elapsed });
    const health = (): number => zone.metric('dns_upstream_healthy', { upstream: first.address });
    first.behaviour = () => [];
    for (let i = 0; i < 2; i++) await ask(zone.port, { name: `a${i}.example.com` });
    expect(health()).toBe(0);
    first.heard.length = 0;
    await ask(zone.port, { name: 'b.example.com' });
    expect(first.heard).toEqual([]);
    first.behaviour = (heard) => [answerTo(heard, [a(heard)])];
    elapsed += 1_000;
    await ask(zone.port, { name: 'c.example.com' });
    expect([first.heard.length, health()]).toEqual([1, 1]);
  });

  test('all silent: SERVFAIL; nobody listening: SERVFAIL at once', async () => {
    await zoneWith({ timeout: 50 });
    first.behaviour = second.behaviour = () => [];
    expect((await ask(zone.port, { name })).rcode).toBe('SERVFAIL');
    await zone.close();
    await zoneWith({ upstreams: [`${ELSEWHERE}:${first.port}`], timeout: 60_000 });
    expect((await ask(zone.port, { name })).rcode).toBe('SERVFAIL');
  });

  test('come from the resolver configuration where none are given', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-dns-'));
    const resolverFile = join(folder, 'resolv.conf');
    writeFileSync(
      resolverFile,
      '# two\nsearch example.com\nnameserver 192.0.2.53\n nameserver 2001:db8::53 \nnameserver 192.0.2.53\n',
    );
    await zoneWith({ upstreams: [], resolverFile });
    expect(zone.dns.lookup(name)).toMatchObject({
      result: 'FORWARDED',
      upstreams: ['192.0.2.53:53', '[2001:db8::53]:53'],
    });
    rmSync(folder, { recursive: true });
  });

  test('are never ourselves', async () => {
    const own = `${ELSEWHERE}:${second.port}`;
    await zoneWith({ upstreams: [own, first.address] });
    expect(zone.dns.lookup(name)).toMatchObject({ upstreams: [own, first.address] });
    await zone.dns.bind(ELSEWHERE, second.port);
    expect(zone.dns.lookup(name)).toMatchObject({ upstreams: [first.address] });
  });

  test('that ask us in turn end in SERVFAIL, not in a storm', async () => {
    await zoneWith({ upstreams: [first.address], timeout: 100, tries: 2 });
    // An upstream that knows no better than to ask us.
    first.behaviour = (heard) => {
      void sendUdp(zone.port, question({ name: heard.question.name })).catch(() => undefined);
      return [];
    };
    expect((await ask(zone.port, { name })).rcode).toBe('SERVFAIL');
    expect(first.heard.length).toBe(2);
  });
});

describe('nothing is asked of others', () => {
  test('where forwarding is off', async () => {
    await zoneWith({ enabled: false });
    const reply = await ask(zone.port, { name });
    expect([reply.rcode, reply.packet.flag_ra]).toEqual(['REFUSED', false]);
    expect(zone.dns.lookup(name)).toMatchObject({ result: 'REFUSED' });
    expect(first.heard).toEqual([]);
  });

  test('where there are no upstreams', async () => {
    await zoneWith({ upstreams: [] });
    expect((await ask(zone.port, { name })).rcode).toBe('REFUSED');
  });

  test('for clients of public addresses, unless configured', async () => {
    await zoneWith();
    const upstreams = new Resolvers({
      config: { ...DEFAULT_DNS_CONFIG.forward, upstreams: [first.address] },
      clock: systemClock,
      logger: silentLogger,
      isOwnAddress: () => false,
    });
    await upstreams.load();
    const offered = (address: string, publicClients: boolean): boolean => {
      const config = { ...DEFAULT_DNS_CONFIG.forward, publicClients };
      const parts = { config, upstreams, clock: systemClock, onSettled: () => undefined };
      return new Forwarder(parts).isOfferedTo({ udp: true, address });
    };
    expect([offered('8.8.8.8', false), offered('10.0.0.8', false), offered('8.8.8.8', true)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('above the limits: SERVFAIL', async () => {
    await zoneWith({ pending: 2, timeout: 1_000, tries: 1 });
    first.behaviour = () => [];
    const replies = await Promise.all(['a', 'b', 'c'].map((each) => ask(zone.port, { name: `${each}.example.com` })));
    expect(replies.map(({ rcode }) => rcode)).toEqual(['SERVFAIL', 'SERVFAIL', 'SERVFAIL']);
    expect(first.heard.length).toBe(2);
    expect(zone.metric('dns_forwarded_total', { result: 'limit' })).toBe(1);
    expect(zone.metric('dns_forward_pending')).toBe(0);
    await zone.close();
    await zoneWith({ pendingPerClient: 1, timeout: 1_000, tries: 1 });
    await Promise.all(['a', 'b'].map((each) => ask(zone.port, { name: `${each}.example.com` })));
    expect(zone.metric('dns_forwarded_total', { result: 'limit' })).toBe(1);
  });
});
