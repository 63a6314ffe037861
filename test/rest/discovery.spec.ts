/*
 * Discovery without a proxy: Prometheus, hosts, SRV, direct names; HAProxy, nginx, Prometheus work against it. Also:
 * test/agent/zones.spec.ts, libs/dns/src/answer/direct-names.spec.ts, test/discovery/programs.spec.ts.
 */
import type { EnvoyResources } from '@causeway/xds-translation';
import { zoneResources } from '../support/zone-resources';
import { identityKey, type JsonObject } from '@causeway/resources';
import type { InstanceSource } from '@causeway/queries/testing';
import { meshesOf } from '../support/meshes';
import { plainTokens } from '../support/rest-access';
import { meshId, restFixture, serviceId, type RestFixture, type SeedResource } from './rest-fixture';

const dataplane = (
  name: string,
  given: { mesh?: string; namespace?: string; labels?: Record<string, string> } = {},
) => ({
  id: { kind: 'Dataplane', mesh: given.mesh ?? 'default', zone: 'east', namespace: given.namespace ?? 'default', name },
  labels: given.labels ?? {},
  spec: {
    networking: {
      address: name === 'redis-2' ? 'fd00::2' : '10.0.0.1',
      inbound: [
        { port: 7000, name: 'main', tags: { app: 'redis' }, ...(name === 'redis-2' && { state: 'NotReady' }) },
        { port: 9121, tags: { app: 'redis' } },
      ],
    },
  },
});
const redis = (given: { mesh?: string; namespace?: string; zone?: string; name?: string } = {}): SeedResource => ({
  id: {
    kind: 'MeshService',
    mesh: given.mesh ?? 'default',
    zone: given.zone ?? 'east',
    namespace: given.namespace ?? 'default',
    name: given.name ?? 'redis',
  },
  spec: {
    selector: { dataplaneTags: { app: 'redis' } },
    ports: [
      { port: 6379, name: 'redis', targetPort: 'main', appProtocol: 'tcp' },
      { port: 9121, appProtocol: 'http' },
    ],
  },
});
const named = (
  id: SeedResource['id'],
  ip: string,
  hostnames: readonly string[],
  status = 'Available',
): SeedResource => ({
  id,
  status: { vip: { ip, type: 'Kuma' }, addresses: hostnames.map((hostname) => ({ hostname, status })) },
});

describe('discovery', () => {
  let rest: RestFixture;
  let unfollow: () => void = () => undefined;

  /** With the instances as a zone knows them. */
  const zone = async (...seeds: SeedResource[]): Promise<void> => {
    const known: { resources?: EnvoyResources } = {};
    const instances: InstanceSource = {
      instancesOf: (service) => known.resources?.model.listInstances(identityKey(service)) ?? [],
    };
    rest = await restFixture({ instances, access: { verifiers: [plainTokens] } });
    const access = {
      meshes: meshesOf(rest.index),
      isReady: () => true,
      onReady: () => () => undefined,
      takesTls: () => false,
      onTls: () => () => undefined,
    };
    known.resources = zoneResources({ index: rest.index, access }, 'east');
    unfollow = known.resources.follow();
    await rest.seed(...seeds);
  };
  afterEach(async () => {
    unfollow();
    unfollow = () => undefined;
    await rest.close();
  });
  const get = (url: string, headers: Record<string, string> = {}) => rest.server.inject({ url, headers });
  const targets = async (query = '', headers?: Record<string, string>): Promise<readonly JsonObject[]> =>
    (await get(`/discovery/prometheus${query}`, headers)).json();
  const addresses = async (query = '', headers?: Record<string, string>): Promise<readonly unknown[]> =>
    (await targets(query, headers)).map((target) => target['targets']).flat();

  it('gives Prometheus each instance and port, ready or not, with what it is', async () => {
    await zone(redis(), dataplane('redis-1', { labels: { 'app.io/tier': 'cache' } }), dataplane('redis-2'));
    const answer = await get('/discovery/prometheus?port=redis');
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const own = { mesh: 'default', namespace: 'default', service: 'redis', port: 'redis', zone: 'east' };
    const meta = {
      __meta_causeway_port_number: '6379',
      __meta_causeway_protocol: 'tcp',
      __meta_causeway_plaintext: 'false',
      __meta_causeway_label_kuma_io_zone: 'east',
    };
    expect(answer.json()).toEqual([
      {
        targets: ['10.0.0.1:7000'],
        labels: {
          ...own,
          instance: 'redis-1',
          ...meta,
          __meta_causeway_ready: 'true',
          __meta_causeway_label_app_io_tier: 'cache',
        },
      },
      {
        targets: ['[fd00::2]:7000'],
        labels: { ...own, instance: 'redis-2', ...meta, __meta_causeway_ready: 'false' },
      },
    ]);
    expect(await addresses()).toEqual(['10.0.0.1:7000', '10.0.0.1:9121', '[fd00::2]:7000', '[fd00::2]:9121']);
  });

  it('chooses by mesh, namespace, service and port, and leaves out services of other zones', async () => {
    await zone(
      { id: meshId('other'), labels: { 'kuma.io/origin': 'global' } },
      redis(),
      dataplane('redis-1'),
      redis({ zone: 'west', name: 'far' }),
      redis({ namespace: 'team' }),
      dataplane('redis-2', { namespace: 'team' }),
      redis({ mesh: 'other' }),
      dataplane('redis-1', { mesh: 'other' }),
    );
    expect(await addresses('?mesh=default&namespace=team&port=9121')).toEqual(['[fd00::2]:9121']);
    expect((await targets('?mesh=other&port=6379')).map(({ labels }) => labels)).toEqual([
      expect.objectContaining({ mesh: 'other', instance: 'redis-1' }),
    ]);
    expect(await targets('?service=redis')).toHaveLength(6);
    expect(await targets('?service=far')).toEqual([]);
    expect((await get('/discovery/prometheus?mesh=none')).statusCode).toBe(404);
    expect((await get('/discovery/prometheus?messh=default')).json()).toMatchObject({ status: 400 });
  });

  it('has the metrics of agents where a Dataplane says their port', async () => {
    const at = (port: string) => ({ labels: { 'causeway.io/metrics-port': port } });
    await zone(dataplane('redis-1', at('9902')), dataplane('redis-2', at('70000')), dataplane('redis-3', at('x')));
    expect(await targets('?service=causeway-agent&port=metrics')).toEqual([
      {
        targets: ['10.0.0.1:9902'],
        labels: expect.objectContaining({
          service: 'causeway-agent',
          port: 'metrics',
          instance: 'redis-1',
          __metrics_path__: '/metrics/default.redis-1',
        }),
      },
    ]);
    expect(await addresses('?service=redis')).toEqual([]);
  });

  it('shows a caller what it may list', async () => {
    const binding = (name: string, spec: JsonObject): SeedResource => ({
      id: { kind: 'RoleBinding', mesh: '', zone: '', namespace: '', name },
      labels: { 'kuma.io/origin': 'global' },
      spec,
    });
    await zone(
      redis(),
      dataplane('redis-1'),
      redis({ namespace: 'team' }),
      dataplane('redis-2', { namespace: 'team' }),
      binding('team', {
        role: 'service-owner',
        subjects: [{ kind: 'User', name: 'ann' }],
        meshes: ['default'],
        namespaces: ['team'],
      }),
    );
    const ann = { authorization: 'Bearer ann:team' };
    const stranger = { authorization: 'Bearer bob:none' };
    expect(await addresses('?port=redis', ann)).toEqual(['[fd00::2]:7000']);
    expect((await get('/discovery/prometheus?mesh=default', ann)).statusCode).toBe(403);
    expect(await addresses('?mesh=default&namespace=team&port=redis', ann)).toEqual(['[fd00::2]:7000']);
    expect((await get('/discovery/prometheus', stranger)).statusCode).toBe(403);
    expect((await get('/discovery/hosts', ann)).statusCode).toBe(403);
  });

  it('is not sent again to a client that has it, whatever else changes in the store', async () => {
    await zone(redis(), dataplane('redis-1'));
    const first = await get('/discovery/prometheus');
    const etag = String(first.headers['etag']);
    await rest.seed({ id: serviceId('unrelated', 'west') });
    const again = await get('/discovery/prometheus', { 'if-none-match': `"x", W/${etag}` });
    expect([again.statusCode, again.body, again.headers['etag']]).toEqual([304, '', etag]);
    expect(Number(again.headers['causeway-revision'])).toBeGreaterThan(Number(first.headers['causeway-revision']));
    await rest.seed(dataplane('redis-3'));
    const changed = await get('/discovery/prometheus', { 'if-none-match': etag });
    expect([changed.statusCode, changed.json().length]).toEqual([200, 4]);
  });

  it('refuses a document that is too large, by name of what to narrow', async () => {
    const instance = { address: '10.0.0.1', port: 1, ready: true, plaintext: true, dataplane: dataplane('redis-1') };
    const instances = Array.from({ length: 50_001 }, () => instance);
    rest = await restFixture({
      instances: { instancesOf: () => [{ port: 1, name: 'a', protocol: 'tcp', instances }] },
    });
    await rest.seed(redis());
    const answer = await get('/discovery/prometheus');
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      expect.objectContaining({ detail: expect.stringMatching(/more than 50000 entries/) }),
    ]);
  });

  it('gives hostnames and virtual IPs as /etc/hosts has them', async () => {
    const many = Array.from(
      { length: 40 },
      (_, i) => `many-${String(i).padStart(2, '0')}.${'x'.repeat(30)}.mesh.local`,
    );
    await zone(
      named(serviceId('redis'), '241.0.0.7', ['redis.svc.mesh.local', 'redis.mesh']),
      named(serviceId('young'), '', ['young.svc.mesh.local']),
      named(serviceId('denied'), '241.0.0.8', ['denied.svc.mesh.local'], 'NotAvailable'),
      named(serviceId('odd'), '241.0.0.9', ['a b', 'x\n1.1.1.1 evil', 'fine.mesh']),
      named(serviceId('many'), 'fd00::7', many),
      named({ ...serviceId('other'), mesh: 'other' }, '241.0.0.5', ['other.mesh']),
    );
    const answer = await get('/discovery/hosts');
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    const [comment, ...lines] = answer.body.split('\n');
    expect(comment).toBe('# Services of mesh default in zone east');
    expect(lines.slice(0, 2)).toEqual(['241.0.0.7\tredis.mesh redis.svc.mesh.local', '241.0.0.9\tfine.mesh']);
    expect(lines.slice(2, -1).every((line) => line.startsWith('fd00::7\t') && line.length < 1_000)).toBe(true);
    expect(lines.slice(2, -1).flatMap((line) => line.split('\t')[1]?.split(' '))).toEqual(many);
    expect(lines.at(-1)).toBe('');
  });

  it('is a matter of zones', async () => {
    rest = await restFixture({ cp: { role: 'global' } });
    for (const url of ['/discovery/prometheus', '/discovery/hosts']) {
      const answer = await get(url);
      expect([answer.statusCode, answer.json()]).toEqual([
        404,
        expect.objectContaining({ detail: expect.stringContaining('zone') }),
      ]);
    }
  });
});
