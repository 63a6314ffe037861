/*
 * Names on loopback, and how the machine’s resolver is led there. Also: libs/agent/src/names/resolver-setup.spec.ts,
 * test/agent/agent.spec.ts, test/agent/zones.spec.ts.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DnsServer } from '@causeway/dns';
import type { Resource } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { type AdsClient, RESOURCE_TYPES, type XdsServer } from '@causeway/xds-server';
import type { EnvoyView } from '@causeway/xds-translation';
import { ask, type Reply } from '../../../../test/dns/ask';
import { a, answerTo, FakeUpstream } from '../../../../test/dns/fake-upstream';
import { openAgentCache, serveZone } from '../../../../test/support/agent-cache';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { until } from '../../../../test/support/until';
import type { ResourceCache } from '../resources/resource-cache';
import { AgentNames, createAgentDns } from './agent-names';

const clock = systemClock;
const CONFIG = { suffixes: ['mesh.local'], upstream: [] };

const service = (name: string, ip: string, hostnames: readonly string[] = [`${name}.svc.mesh.local`]): Resource =>
  sketch(
    'MeshService',
    name,
    { selector: { dataplaneTags: { app: name } }, ports: [{ port: 6379, name: 'redis' }] },
    {
      status: {
        ...(ip !== '' && { vip: { ip } }),
        addresses: hostnames.map((hostname) => ({ hostname, status: 'Available' })),
      },
    },
  );

/** A zone that sends a machine its resources over ADS, and the machine's DNS, with a plane that applies all of them. */
describe('the names of a machine', () => {
  let zone: TrafficZone;
  let server: XdsServer<EnvoyView>;
  let folder: string;
  let cache: ResourceCache;
  let client: AdsClient;
  let dns: DnsServer;
  let port = 0;
  let xdsPort = 0;
  /** The plane takes nothing before this resolves. */
  let hold: Promise<void>;

  const view: EnvoyView = {
    mesh: 'default',
    listed: 'declared',
    capture: {
      type: 'redirect',
      at: { address: '127.0.0.1', port: 15001 },
      reentry: { address: '127.0.0.1', port: 15011 },
    },
  };

  const startAgent = async (config: { readonly upstream?: string[] } = {}): Promise<void> => {
    ({ cache, client } = await openAgentCache(folder, xdsPort, () => hold.then(() => undefined)));
    dns = createAgentDns({
      resources: cache,
      capture: 'redirect',
      clock,
      zone: 'west',
      logger: silentLogger,
      ...CONFIG,
      ...config,
    });
    port = await dns.bind('127.0.0.1', 0);
  };
  const stopAgent = async (): Promise<void> => {
    client.close();
    await dns.close();
    await cache.close();
  };
  const connected = (): Promise<unknown> => until('the zone', () => client.state.type === 'connected');
  const question = (name: string, type: Parameters<typeof ask>[1]['type'] = 'A'): Promise<Reply> =>
    ask(port, { name, type });
  const said = async (...asked: Parameters<typeof question>): Promise<readonly string[]> => {
    const { rcode, answers } = await question(...asked);
    return [rcode, ...answers];
  };

  beforeEach(async () => {
    hold = Promise.resolve();
    zone = new TrafficZone();
    ({ server, port: xdsPort } = await serveZone(zone, view));
    folder = await mkdtemp(join(tmpdir(), 'causeway-names-'));
    await startAgent();
    await connected();
  });
  afterEach(async () => {
    await stopAgent();
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('are learned at the first question, with ports, PTR and what else a zone answers', async () => {
    zone.put(service('redis', '241.0.0.7', ['redis.svc.mesh.local', 'redis.mesh.local']), service('six', 'fd00::7'));
    expect(await said('REDIS.svc.mesh.local')).toEqual(['NOERROR', 'A 241.0.0.7']);
    expect(await said('redis.svc.mesh.local', 'AAAA')).toEqual(['NOERROR']);
    expect(await said('_redis._tcp.redis.mesh.local', 'SRV')).toEqual(['NOERROR', 'SRV 6379 redis.mesh.local']);
    expect(await said('six.svc.mesh.local', 'AAAA')).toEqual(['NOERROR', 'AAAA fd00::7']);
    expect(await said('7.0.0.241.in-addr.arpa', 'PTR')).toEqual([
      'NOERROR',
      'PTR redis.svc.mesh.local',
      'PTR redis.mesh.local',
    ]);
    expect(await said('nobody.svc.mesh.local')).toEqual(['NXDOMAIN']);
    expect(await said('_x._tcp.redis.mesh.local', 'SRV')).toEqual(['NXDOMAIN']);
    expect(await said('mesh.local', 'SOA')).toEqual(['NOERROR', 'SOA ns.mesh.local hostmaster.mesh.local']);
    expect(await said('example.com')).toEqual(['REFUSED']);
  });

  it('follow the zone: an unknown name comes to be, moves, and goes', async () => {
    expect(await said('redis.svc.mesh.local')).toEqual(['NXDOMAIN']);
    zone.put(service('redis', '241.0.0.7'));
    await until('the name', async () => (await said('redis.svc.mesh.local'))[1] === 'A 241.0.0.7');
    zone.put(service('redis', '241.0.0.8'));
    await until('the move', async () => (await said('redis.svc.mesh.local'))[1] === 'A 241.0.0.8');
    expect(await said('7.0.0.241.in-addr.arpa', 'PTR')).toEqual(['REFUSED']);
    zone.delete(service('redis', '241.0.0.8'));
    await until('the end', async () => (await said('redis.svc.mesh.local'))[0] === 'NXDOMAIN');
  });

  it('are answered when the plane has taken what leads there, not before', async () => {
    zone.put(service('redis', '241.0.0.7'), service('young', ''));
    let release: () => void = () => undefined;
    hold = new Promise((resolve) => (release = resolve));
    let answered = false;
    const waiting = said('redis.svc.mesh.local').finally(() => (answered = true));
    await until('what leads there', () => typeof cache.get(CLUSTER, 'vip:241.0.0.7:6379') === 'object');
    expect(answered).toBe(false);
    release();
    expect(await waiting).toEqual(['NOERROR', 'A 241.0.0.7']);
    // Nothing leads to a service without an address.
    expect(await said('young.svc.mesh.local')).toEqual(['NOERROR']);
  });

  it('fail where the plane does not take it', async () => {
    zone.put(service('redis', '241.0.0.7'));
    hold = new Promise(() => undefined);
    expect(await said('redis.svc.mesh.local')).toEqual(['SERVFAIL']);
    hold = Promise.resolve();
  });

  it('wait for no plane where nothing leads to virtual IPs', async () => {
    zone.put(service('redis', '241.0.0.7'));
    hold = new Promise(() => undefined);
    // Its clock stands still: a wait would never end.
    const names = new AgentNames({ resources: cache, capture: 'outbounds', clock: new FakeClock() });
    names.get('redis.svc.mesh.local');
    await until(
      'what the zone tells',
      () => typeof cache.get(RESOURCE_TYPES.hostName, 'redis.svc.mesh.local') === 'object',
    );
    await names.settled('redis.svc.mesh.local');
    expect(names.get('redis.svc.mesh.local')).toBe('pending');
    hold = Promise.resolve();
  });

  it('that were used go on with every control plane dead, over a restart; others are unknown after a second', async () => {
    zone.put(service('redis', '241.0.0.7'), service('other', '241.0.0.9'));
    expect(await said('redis.svc.mesh.local')).toEqual(['NOERROR', 'A 241.0.0.7']);
    await server.close();
    await until('the end of the zone', () => client.state.type === 'connecting');
    expect(await said('redis.svc.mesh.local')).toEqual(['NOERROR', 'A 241.0.0.7']);
    await stopAgent();
    await startAgent();
    expect(await said('redis.svc.mesh.local')).toEqual(['NOERROR', 'A 241.0.0.7']);
    expect(await said('other.svc.mesh.local')).toEqual(['NXDOMAIN']);
  });

  it('of others are forwarded where upstreams are configured', async () => {
    const upstream = await new FakeUpstream().start();
    upstream.behaviour = (heard) => [answerTo(heard, [a(heard)])];
    await stopAgent();
    await startAgent({ upstream: [upstream.address] });
    expect(await said('www.example.com')).toEqual(['NOERROR', 'A 192.0.2.1']);
    expect(await said('nobody.mesh.local')).toEqual(['NXDOMAIN']);
    await upstream.close();
  });
});

const CLUSTER = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
