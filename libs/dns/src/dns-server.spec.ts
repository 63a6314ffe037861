import { connect } from 'node:net';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { ask, question, read, sendTcp, sendUdp } from '../../../test/dns/ask';
import { DnsZone, generator, service } from '../../../test/dns/dns-zone';

const redis = service('redis', { ip: '241.0.0.7', hostnames: ['redis.svc.mesh.east', 'redis.svc.mesh.local'] });
const six = service('six', { ip: 'fd00:241::7', hostnames: ['six.svc.mesh.local'] });
const young = service('young', { hostnames: ['young.svc.mesh.local'] });
const local = generator('local', '{{ .DisplayName }}.svc.mesh.local');

let zone: DnsZone;

async function zoneWith(...args: Parameters<DnsZone['start']>): Promise<DnsZone> {
  zone = await new DnsZone(redis, six, young, local).start(...args);
  return zone;
}

afterEach(() => zone.close());

describe('a zone answers', () => {
  beforeEach(() => zoneWith({ ranges: ['241.0.0.0/8', 'fd00:241::/64'] }));

  test.each([
    ['A', 'redis.svc.mesh.local', ['A 241.0.0.7']],
    ['A', 'redis.svc.mesh.local.', ['A 241.0.0.7']],
    ['A', 'redis.svc.mesh.east', ['A 241.0.0.7']],
    ['AAAA', 'six.svc.mesh.local', ['AAAA fd00:241::7']],
    ['PTR', '7.0.0.241.in-addr.arpa', ['PTR redis.svc.mesh.east', 'PTR redis.svc.mesh.local']],
    ['PTR', '7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.4.2.0.0.0.d.f.ip6.arpa', ['PTR six.svc.mesh.local']],
    ['SRV', '_redis._tcp.redis.svc.mesh.local', ['SRV 6379 redis.svc.mesh.local']],
    ['SRV', '_6379._tcp.redis.svc.mesh.local', ['SRV 6379 redis.svc.mesh.local']],
    ['SRV', '_9121._tcp.redis.svc.mesh.east', ['SRV 9121 redis.svc.mesh.east']],
    [
      'TXT',
      'redis.svc.mesh.local',
      ['TXT service=redis kind=MeshService namespace=default zone=east mesh=default generator=local'],
    ],
    ['SOA', 'mesh.local', ['SOA ns.mesh.local hostmaster.mesh.local']],
    ['NS', 'mesh.local', ['NS ns.mesh.local']],
    ['A', 'ns.mesh.local', ['A 127.0.0.1']],
    ['SOA', 'redis.svc.mesh.east', ['SOA redis.svc.mesh.east hostmaster.redis.svc.mesh.east']],
  ] as const)('%s %s', async (type, name, answers) => {
    for (const tcp of [false, true]) {
      const reply = await ask(zone.port, { name, type, tcp });
      expect({ rcode: reply.rcode, answers: reply.answers }).toEqual({ rcode: 'NOERROR', answers });
      expect(reply.packet.flag_aa).toBe(true);
    }
  });

  test.each([
    ['the other family', 'AAAA', 'redis.svc.mesh.local', 'NOERROR'],
    ['the other family', 'A', 'six.svc.mesh.local', 'NOERROR'],
    ['a service without an address', 'A', 'young.svc.mesh.local', 'NOERROR'],
    ['a type it does not have', 'MX', 'redis.svc.mesh.local', 'NOERROR'],
    ['a name between', 'A', 'svc.mesh.local', 'NOERROR'],
    ['the ports of a hostname', 'A', '_tcp.redis.svc.mesh.local', 'NOERROR'],
    ['a port, but not its SRV', 'A', '_redis._tcp.redis.svc.mesh.local', 'NOERROR'],
    ['an unknown name', 'A', 'nobody.svc.mesh.local', 'NXDOMAIN'],
    ['a name under a hostname', 'A', 'www.redis.svc.mesh.local', 'NXDOMAIN'],
    ['a name under a lone hostname', 'A', 'www.redis.svc.mesh.east', 'NXDOMAIN'],
    ['a port that it has not', 'SRV', '_http._tcp.redis.svc.mesh.local', 'NXDOMAIN'],
    ['a protocol that it has not', 'SRV', '_redis._udp.redis.svc.mesh.local', 'NXDOMAIN'],
    ['an address nobody has', 'PTR', '8.0.0.241.in-addr.arpa', 'NXDOMAIN'],
  ] as const)('%s: %s %s without data, and for how long', async (_what, type, name, rcode) => {
    const reply = await ask(zone.port, { name, type });
    expect({ rcode: reply.rcode, answers: reply.answers }).toEqual({ rcode, answers: [] });
    expect(reply.packet.authorities).toEqual([
      expect.objectContaining({ type: 'SOA', ttl: 5, data: expect.objectContaining({ minimum: 5 }) }),
    ]);
    const [soa] = reply.packet.authorities ?? [];
    expect(name.endsWith(soa?.name ?? 'nothing')).toBe(true);
  });

  test('in the spelling of the client', async () => {
    const reply = await ask(zone.port, { name: 'ReDiS.svc.MESH.local' });
    expect(reply.answers).toEqual(['A 241.0.0.7']);
    expect(reply.packet.questions?.[0]?.name).toBe('ReDiS.svc.MESH.local');
    expect(reply.packet.answers?.[0]?.name).toBe('ReDiS.svc.MESH.local');
  });

  test('SRV with the address beside it', async () => {
    const reply = await ask(zone.port, { name: '_redis._tcp.redis.svc.mesh.local', type: 'SRV' });
    expect(reply.packet.additionals).toEqual([
      expect.objectContaining({ name: 'redis.svc.mesh.local', type: 'A', data: '241.0.0.7', ttl: 5 }),
    ]);
  });

  test('what is not ours with REFUSED', async () => {
    for (const name of ['example.com', 'mesh.east', 'other.mesh.east', 'local'])
      expect((await ask(zone.port, { name })).rcode).toBe('REFUSED');
  });
});

describe('a zone follows its index', () => {
  beforeEach(() => zoneWith());

  test('a hostname that becomes Available answers with its commit, a withdrawn one stops', async () => {
    const name = 'new.svc.mesh.local';
    expect((await ask(zone.port, { name })).rcode).toBe('NXDOMAIN');
    zone.put(service('new', { ip: '241.0.0.9', hostnames: [name] }));
    expect((await ask(zone.port, { name })).answers).toEqual(['A 241.0.0.9']);
    zone.put(service('new', { ip: '241.0.0.10', hostnames: [name] }));
    expect((await ask(zone.port, { name })).answers).toEqual(['A 241.0.0.10']);
    expect((await ask(zone.port, { name: '9.0.0.241.in-addr.arpa', type: 'PTR' })).rcode).toBe('REFUSED');
    zone.put(service('new', { ip: '241.0.0.10', lost: [name] }));
    expect((await ask(zone.port, { name })).rcode).toBe('NXDOMAIN');
    zone.put(service('new', { ip: '241.0.0.10', hostnames: [name] }));
    zone.delete(service('new'));
    expect((await ask(zone.port, { name })).rcode).toBe('NXDOMAIN');
  });

  test('the serial of the SOA rises with the names, not with anything else', async () => {
    const serial = async (): Promise<unknown> => {
      const [soa] = (await ask(zone.port, { name: 'mesh.local', type: 'SOA' })).packet.answers ?? [];
      return soa?.type === 'SOA' ? soa.data.serial : undefined;
    };
    const before = await serial();
    zone.put({ ...redis, labels: { team: 'db' }, status: { ...redis.status, dataplaneProxies: { total: 3 } } });
    expect(await serial()).toBe(before);
    zone.put(service('redis', { ip: '241.0.0.8', hostnames: ['redis.svc.mesh.east'] }));
    expect(await serial()).toBe(2);
  });

  test('the suffix of a generator is ours while the generator is there', async () => {
    const name = 'nobody.corp.example';
    expect((await ask(zone.port, { name })).rcode).toBe('REFUSED');
    zone.put(generator('corp', '{{ name }}.corp.example'));
    expect((await ask(zone.port, { name })).rcode).toBe('NXDOMAIN');
    zone.put(generator('corp', '{{ name }}.corp2.example'));
    expect((await ask(zone.port, { name })).rcode).toBe('REFUSED');
    zone.delete(generator('corp', ''));
    expect((await ask(zone.port, { name: 'nobody.corp2.example' })).rcode).toBe('REFUSED');
  });

  test('a new snapshot replaces everything', async () => {
    const other = service('other', { ip: '241.0.0.1', hostnames: ['other.svc.mesh.local'] });
    zone.index.load({ point: { incarnation: 'next', revision: 1 }, resources: [other], tombstones: [] });
    expect((await ask(zone.port, { name: 'other.svc.mesh.local' })).answers).toEqual(['A 241.0.0.1']);
    expect((await ask(zone.port, { name: 'redis.svc.mesh.local' })).rcode).toBe('NXDOMAIN');
    expect((await ask(zone.port, { name: 'redis.svc.mesh.east' })).rcode).toBe('REFUSED');
  });
});

describe('one hostname in two meshes', () => {
  const name = 'shop.svc.mesh.local';
  const shops = [
    service('shop', { mesh: 'b', ip: '241.0.1.2', hostnames: [name] }),
    service('shop', { mesh: 'a', ip: '241.0.1.1', hostnames: [name] }),
    service('shop', { mesh: 'c', ip: '241.0.1.3', hostnames: [name] }),
  ];

  test.each([
    ['the first by name', [], 'A 241.0.1.1'],
    ['the first of the configured order', ['c', 'b'], 'A 241.0.1.3'],
    ['a listed one before all others', ['b'], 'A 241.0.1.2'],
    ['the first listed one that has it', ['z', 'b'], 'A 241.0.1.2'],
  ])('%s answers, whatever came first', async (_what, meshOrder, answer) => {
    const warnings: unknown[] = [];
    const logger = {
      debug: () => undefined,
      info: () => undefined,
      warn: (message: string, fields?: unknown) => void warnings.push([message, fields]),
      error: () => undefined,
      child: () => logger,
    };
    await zoneWith({ meshOrder }, { logger });
    zone.put(...shops);
    expect((await ask(zone.port, { name })).answers).toEqual([answer]);
    zone.delete(...shops);
    zone.put(...[...shops].reverse());
    expect((await ask(zone.port, { name })).answers).toEqual([answer]);
    expect(zone.metric('dns_hostname_conflicts')).toBe(1);
    expect(warnings).toContainEqual([
      'several meshes have one hostname; the first mesh answers',
      expect.objectContaining({ count: 1 }),
    ]);
    expect(zone.dns.lookup(name)).toMatchObject({ reason: expect.stringContaining('other meshes have the same') });
    zone.delete(...shops.slice(1));
    expect((await ask(zone.port, { name })).answers).toEqual(['A 241.0.1.2']);
    expect(zone.metric('dns_hostname_conflicts')).toBe(0);
  });
});

describe('what does not fit', () => {
  const hostnames = Array.from({ length: 60 }, (_, i) => `a-rather-long-name-${i}.svc.mesh.local`);
  const name = '9.9.0.241.in-addr.arpa';

  beforeEach(async () => {
    await zoneWith();
    zone.put(service('many', { ip: '241.0.9.9', hostnames }));
  });

  test('is cut with TC at 512 octets, at the size of EDNS, and never over TCP', async () => {
    for (const edns of [undefined, 512, 1232, 4096]) {
      const cut = await ask(zone.port, { name, type: 'PTR', ...(edns === undefined ? {} : { edns }) });
      expect([cut.packet.flag_tc, cut.answers, cut.rcode]).toEqual([true, [], 'NOERROR']);
      expect(cut.raw.length).toBeLessThanOrEqual(512);
      expect(cut.packet.additionals?.length).toBe(edns === undefined ? 0 : 1);
      const whole = await ask(zone.port, { name, type: 'PTR', tcp: true, ...(edns === undefined ? {} : { edns }) });
      expect([whole.packet.flag_tc, whole.answers.length]).toEqual([false, 60]);
    }
  });

  test('is given to those who take it', async () => {
    zone.put(service('many', { ip: '241.0.9.9', hostnames: hostnames.slice(0, 12) }));
    expect((await ask(zone.port, { name, type: 'PTR' })).packet.flag_tc).toBe(true);
    expect((await ask(zone.port, { name, type: 'PTR', edns: 1232 })).answers.length).toBe(12);
  });

  test('may be the address beside an SRV', async () => {
    const labels = Array.from({ length: 3 }, (_, i) => String(i).repeat(60));
    const long = [...labels, 'svc.mesh.local'].join('.');
    zone.put(service('long', { ip: '241.0.9.8', hostnames: [long] }));
    const reply = await ask(zone.port, { name: `_redis._tcp.${long}`, type: 'SRV' });
    expect([reply.packet.flag_tc, reply.answers, reply.packet.additionals]).toEqual([false, [`SRV 6379 ${long}`], []]);
  });
});

describe('EDNS', () => {
  beforeEach(() => zoneWith());

  test('is spoken with those who speak it, DO echoed', async () => {
    const reply = await ask(zone.port, { name: 'redis.svc.mesh.local', edns: 4096, dnssec: true });
    expect(reply.packet.additionals).toEqual([
      expect.objectContaining({ type: 'OPT', udpPayloadSize: 1232, ednsVersion: 0, flag_do: true }),
    ]);
    expect((await ask(zone.port, { name: 'redis.svc.mesh.local' })).packet.additionals).toEqual([]);
  });

  test('of a version to come gets BADVERS', async () => {
    const packet = question({ name: 'redis.svc.mesh.local', edns: 1232 });
    packet[packet.length - 5] = 1; // the version, behind it flags and the length of no options
    const reply = read(await sendUdp(zone.port, packet));
    expect(reply.raw.readUInt8(3) & 15).toBe(0);
    expect(reply.packet.additionals).toEqual([expect.objectContaining({ extendedRcode: 1, ednsVersion: 0 })]);
    expect(reply.answers).toEqual([]);
  });
});

describe('questions of another kind', () => {
  beforeEach(() => zoneWith());

  function withOpcode(opcode: number): Buffer {
    const packet = question({ name: 'mesh.local', type: 'SOA' });
    packet[2] = opcode << 3;
    return packet;
  }

  test.each([
    ['inverse query', 1, 'NOTIMP'],
    ['status', 2, 'NOTIMP'],
    ['notify', 4, 'NOTIMP'],
    ['update', 5, 'NOTIMP'],
  ])('%s', async (_what, opcode, rcode) => {
    const reply = read(await sendUdp(zone.port, withOpcode(opcode)));
    expect([reply.rcode, (reply.raw.readUInt8(2) >> 3) & 15, reply.packet.questions?.length]).toEqual([
      rcode,
      opcode,
      1,
    ]);
  });

  test.each([
    ['AXFR of ours', { name: 'mesh.local', type: 'AXFR', tcp: true }, 'REFUSED'],
    ['IXFR of ours', { name: 'svc.mesh.local', type: 'IXFR' }, 'REFUSED'],
    ['AXFR of what is not ours', { name: 'example.com', type: 'AXFR', tcp: true }, 'NOTAUTH'],
    ['another class', { name: 'redis.svc.mesh.local', class: 'CH' }, 'REFUSED'],
  ] as const)('%s', async (_what, asking, rcode) => {
    expect((await ask(zone.port, asking)).rcode).toBe(rcode);
  });

  test('several questions, none, or something behind the last record', async () => {
    const one = question({ name: 'redis.svc.mesh.local' });
    const two = Buffer.concat([one, one.subarray(12)]);
    two.writeUInt16BE(2, 4);
    const none = Buffer.from(one.subarray(0, 12));
    none.writeUInt16BE(0, 4);
    for (const packet of [two, none, Buffer.concat([one, Buffer.from([0])])])
      expect(read(await sendUdp(zone.port, packet)).rcode).toBe('FORMERR');
  });

  test('records behind the question that are no EDNS are passed over', async () => {
    const one = question({ name: 'redis.svc.mesh.local' });
    const txt = Buffer.from([0, 0, 16, 0, 1, 0, 0, 0, 0, 0, 2, 1, 65]);
    const packet = Buffer.concat([one, txt]);
    packet.writeUInt16BE(1, 10);
    expect(read(await sendUdp(zone.port, packet)).answers).toEqual(['A 241.0.0.7']);
  });

  test('an answer gets no answer, so that two servers never talk in circles', async () => {
    const packet = question({ name: 'redis.svc.mesh.local' });
    packet[2] = 0x80;
    await expect(sendTcp(zone.port, packet)).rejects.toThrow('closed without an answer');
    expect(zone.metric('dns_dropped_total', { reason: 'malformed' })).toBe(1);
  });
});

describe('names at the limits', () => {
  const label = 'x'.repeat(63);
  const longest = `${label}.${label}.${label}.${'y'.repeat(50)}.mesh.local`;

  test('a name of 253 octets with labels of 63', async () => {
    await zoneWith();
    expect(longest.length).toBe(253);
    zone.put(service('long', { ip: '241.0.0.11', hostnames: [longest] }));
    expect((await ask(zone.port, { name: longest })).answers).toEqual(['A 241.0.0.11']);
    expect((await ask(zone.port, { name: longest.replace('y', 'z') })).rcode).toBe('NXDOMAIN');
  });

  test('a dot inside a label is not the end of one', async () => {
    await zoneWith();
    const packet = question({ name: 'redis-svc.mesh.local' });
    packet[packet.indexOf('-')] = '.'.charCodeAt(0);
    expect(read(await sendUdp(zone.port, packet)).rcode).toBe('NXDOMAIN');
  });
});

describe('TCP', () => {
  beforeEach(() => zoneWith({ limits: { tcpConnections: 2, tcpIdle: 2_000 } }));

  test('takes questions in pieces and one after the other without waiting', async () => {
    const socket = connect(zone.port, '127.0.0.1');
    const framed = ['redis.svc.mesh.local', 'nobody.mesh.local', 'six.svc.mesh.local'].flatMap((name) => {
      const packet = question({ name });
      return [Buffer.from([0, packet.length]), packet];
    });
    const stream = Buffer.concat(framed);
    const got: Buffer[] = [];
    const ended = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        got.push(chunk);
        const all = Buffer.concat(got);
        let [at, count] = [0, 0];
        while (at + 2 <= all.length && at + 2 + all.readUInt16BE(at) <= all.length) {
          at += 2 + all.readUInt16BE(at);
          count += 1;
        }
        if (count === 3) resolve();
      });
    });
    await once(socket, 'connect');
    socket.setNoDelay(true);
    for (const octet of stream) socket.write(Buffer.from([octet]));
    await ended;
    socket.destroy();
  });

  test('an idle connection is closed, one too many at once', async () => {
    const first = connect(zone.port, '127.0.0.1');
    const second = connect(zone.port, '127.0.0.1');
    await Promise.all([once(first, 'connect'), once(second, 'connect')]);
    const third = connect(zone.port, '127.0.0.1');
    third.on('error', () => undefined);
    await once(third, 'close');
    expect(zone.metric('dns_dropped_total', { reason: 'connections' })).toBeGreaterThan(0);
    await Promise.all([once(first, 'close'), once(second, 'close')]);
    expect((await ask(zone.port, { name: 'redis.svc.mesh.local', tcp: true })).answers).toEqual(['A 241.0.0.7']);
  });
});

test('a taken port is an error with its name', async () => {
  await zoneWith();
  await expect(zone.dns.bind('127.0.0.1', zone.port)).rejects.toThrow('EADDRINUSE');
});

test('several addresses of one port answer, and are those of its name server', async () => {
  await zoneWith();
  expect(await zone.dns.bind('127.0.0.2', zone.port)).toBe(zone.port);
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.2:${zone.port}`]);
  expect(await resolver.resolve4('redis.svc.mesh.local')).toEqual(['241.0.0.7']);
  expect((await ask(zone.port, { name: 'ns.mesh.local' })).answers).toEqual(['A 127.0.0.1', 'A 127.0.0.2']);
});
