import type { EndpointSource, DirectEndpoint, DirectPort } from './direct-names';
import type { Identity } from '@causeway/resources';
import { ask, type Reply } from '../../../../test/dns/ask';
import { DnsZone, service } from '../../../../test/dns/dns-zone';

const DIRECT = 'direct.mesh.local';
const REDIS = `redis.svc.mesh.local.${DIRECT}`;

const at = (address: string, given: Partial<DirectEndpoint> = {}): DirectEndpoint => {
  return { address, port: 7000, ready: true, plaintext: false, ...given };
};

/** Instances that a test writes, by the name of the service. */
class Instances implements EndpointSource {
  private readonly byName = new Map<string, readonly DirectPort[]>();
  private changes = 0;
  isKnown = true;

  set(name: string, ...ports: DirectPort[]): void {
    this.byName.set(name, ports);
    this.changes += 1;
  }

  version(): number {
    return this.changes;
  }

  findPorts({ name }: Identity): readonly DirectPort[] | undefined {
    return this.isKnown ? (this.byName.get(name) ?? []) : undefined;
  }
}

describe('names past the proxies', () => {
  let zone: DnsZone;
  let instances: Instances;
  const start = async (directSuffix: string, suffixes = ['mesh.local']): Promise<void> => {
    instances = new Instances();
    zone = await new DnsZone(
      service('redis', { ip: '241.0.0.7', hostnames: ['redis.svc.mesh.local'] }),
      service('other', { ip: '241.0.0.8', hostnames: [REDIS] }),
    ).start({ directSuffix, suffixes, forward: { enabled: false } }, { endpoints: instances });
    instances.set(
      'redis',
      { port: 6379, name: 'Redis', instances: [at('10.0.0.1'), at('10.0.0.2', { port: 7001 }), at('fd00::2')] },
      { port: 9121, name: '9121', instances: [at('10.0.0.1', { port: 9121 }), at('10.0.0.3', { ready: false })] },
    );
  };
  beforeEach(() => start(DIRECT));
  afterEach(() => zone.close());

  const question = (name: string, type: Parameters<typeof ask>[1]['type'] = 'A'): Promise<Reply> =>
    ask(zone.port, { name, type, tcp: true });
  const answers = async (...asked: Parameters<typeof question>): Promise<readonly string[]> =>
    [...(await question(...asked)).answers].sort();

  it('have the addresses of ready instances, of all ports, each once', async () => {
    expect(await answers(REDIS)).toEqual(['A 10.0.0.1', 'A 10.0.0.2']);
    expect(await answers(REDIS, 'AAAA')).toEqual(['AAAA fd00::2']);
    expect(await answers(REDIS.toUpperCase())).toEqual(['A 10.0.0.1', 'A 10.0.0.2']);
    expect(await answers('redis.svc.mesh.local')).toEqual(['A 241.0.0.7']);
  });

  it('have the ports of ready instances, by name and by number, with names that lead to them', async () => {
    const port = (ip: string, at: number): string => `SRV ${at} ip-${ip}.${REDIS}`;
    const all = [port('10-0-0-1', 7000), port('fd00--2', 7000), port('10-0-0-2', 7001)];
    for (const label of ['redis', '6379']) {
      const reply = await question(`_${label}._tcp.${REDIS}`, 'SRV');
      expect([...reply.answers].sort()).toEqual(all);
      expect((reply.packet.additionals ?? []).flatMap((one) => ('data' in one ? [one.data] : [])).sort()).toEqual(
        expect.arrayContaining(['10.0.0.1', '10.0.0.2', 'fd00::2']),
      );
    }
    expect(await answers(`_9121._tcp.${REDIS}`, 'SRV')).toEqual([port('10-0-0-1', 9121)]);
    expect(await answers(`ip-10-0-0-2.${REDIS}`)).toEqual(['A 10.0.0.2']);
    expect(await answers(`ip-fd00--2.${REDIS}`, 'AAAA')).toEqual(['AAAA fd00::2']);
    // Its name may be from an answer a moment ago.
    expect(await answers(`ip-10-0-0-3.${REDIS}`)).toEqual(['A 10.0.0.3']);
  });

  it.each([
    ['an unknown hostname', `nobody.svc.mesh.local.${DIRECT}`, 'NXDOMAIN'],
    ['an unknown port', `_http._tcp.${REDIS}`, 'NXDOMAIN'],
    ['another protocol', `_redis._udp.${REDIS}`, 'NXDOMAIN'],
    ['an unknown instance', `ip-10-0-0-9.${REDIS}`, 'NXDOMAIN'],
    ['a name below an instance', `a.ip-10-0-0-1.${REDIS}`, 'NXDOMAIN'],
    ['the protocol', `_tcp.${REDIS}`, 'NOERROR'],
    ['a name between', `svc.mesh.local.${DIRECT}`, 'NOERROR'],
    ['the suffix', DIRECT, 'NOERROR'],
    ['a port, but not its SRV', `_redis._tcp.${REDIS}`, 'NOERROR'],
    ['an instance of the other family', `ip-fd00--2.${REDIS}`, 'NOERROR'],
  ])('%s: %s is %s without data', async (_what, name, rcode) => {
    const reply = await question(name);
    expect([reply.rcode, reply.answers]).toEqual([rcode, []]);
    expect(reply.packet.authorities).toEqual([expect.objectContaining({ type: 'SOA', name: 'mesh.local', ttl: 5 })]);
  });

  it('follow the instances at once', async () => {
    await answers(REDIS);
    instances.set('redis', { port: 6379, name: 'redis', instances: [at('10.0.0.9')] });
    expect(await answers(REDIS)).toEqual(['A 10.0.0.9']);
    instances.set('redis', { port: 6379, name: 'redis', instances: [at('10.0.0.9', { ready: false })] });
    expect((await question(REDIS)).rcode).toBe('NOERROR');
    expect(await answers(REDIS)).toEqual([]);
  });

  it('come in another order each time, at most 256 of them, over TCP where they do not fit', async () => {
    const many = Array.from({ length: 300 }, (_, i) => at(`10.1.${i >> 8}.${i & 255}`));
    instances.set('redis', { port: 6379, name: 'redis', instances: many });
    const [first, second] = [await question(REDIS), await question(REDIS)];
    expect(first.answers).toHaveLength(256);
    expect(second.answers[0]).not.toBe(first.answers[0]);
    expect([...second.answers].sort()).toEqual([...first.answers].sort());
    const udp = await ask(zone.port, { name: REDIS });
    expect([udp.packet.flag_tc, udp.answers]).toEqual([true, []]);
    expect((await question(`_6379._tcp.${REDIS}`, 'SRV')).answers).toHaveLength(256);
  });

  it('of a server outside the mesh lead to its own name', async () => {
    instances.set('redis', {
      port: 443,
      name: '443',
      instances: [at('api.example.com', { port: 443 }), at('192.0.2.1')],
    });
    expect(await answers(REDIS)).toEqual(['A 192.0.2.1']);
    expect(await answers(`_443._tcp.${REDIS}`, 'SRV')).toEqual([
      `SRV 443 api.example.com`,
      `SRV 7000 ip-192-0-2-1.${REDIS}`,
    ]);
  });

  it('fail while the instances are not known: an empty answer would be believed', async () => {
    instances.isKnown = false;
    expect((await question(REDIS)).rcode).toBe('SERVFAIL');
  });

  it('are not there without a suffix, and end at a label', async () => {
    expect((await question(`redis.svc.mesh.local.in${DIRECT}`)).rcode).toBe('NXDOMAIN');
    await zone.close();
    await start('');
    expect(await answers(REDIS)).toEqual(['A 241.0.0.8']);
  });

  it('may stand under a suffix that is no other', async () => {
    await zone.close();
    await start('d.internal');
    expect(await answers('redis.svc.mesh.local.d.internal')).toEqual(['A 10.0.0.1', 'A 10.0.0.2']);
    expect((await question('d.internal', 'SOA')).answers).toEqual(['SOA ns.d.internal hostmaster.d.internal']);
  });

  it('are explained, with what they cannot do', () => {
    expect(zone.dns.lookup(REDIS)).toMatchObject({
      result: 'NOERROR',
      holders: [expect.objectContaining({ name: 'redis' })],
      reason:
        'it is redis.svc.mesh.local without a proxy: MeshService east/default/redis; 4 of 5 ports of instances that ' +
        'this zone reaches are ready; 4 of them take TLS of the mesh only: plain text is refused',
    });
    expect(zone.dns.lookup(`nobody.mesh.local.${DIRECT}`)).toMatchObject({
      result: 'NXDOMAIN',
      reason: `no service holds the name before the direct suffix ${DIRECT}`,
    });
  });
});
