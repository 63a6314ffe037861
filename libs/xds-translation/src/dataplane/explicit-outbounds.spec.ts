import type { JsonObject, Resource } from '@causeway/resources';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { WatchedView } from '../../../../test/support/watched-view';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { EnvoyView } from '../views/envoy-view';
import { MAX_OUTBOUNDS } from './explicit-outbounds';
import { zoneResources } from '../../../../test/support/zone-resources';

const { cluster, listener } = RESOURCE_TYPES;

interface ServiceSketch {
  readonly zone?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly ports?: readonly number[];
  readonly age?: number;
}

function service(
  name: string,
  { zone = 'west', kind = 'MeshService', namespace = 'default', ports = [6379], age = 1 }: ServiceSketch = {},
): Resource {
  const spec =
    kind === 'MeshExternalService' ? { match: { port: ports[0] ?? 0 } } : { ports: ports.map((port) => ({ port })) };
  return sketch(kind, name, spec, { zone, namespace, labels: { team: name }, creationOrder: age });
}

const byName = (name: string, port?: number, kind = 'MeshService'): JsonObject => ({
  backendRef: { kind, name, ...(port !== undefined && { port }) },
});
const byTags = (tags: JsonObject): JsonObject => ({ tags });
const tagged = (name: string, more: JsonObject = {}): JsonObject => byTags({ 'kuma.io/service': name, ...more });
const byLabel = (team: string, port = 6379): JsonObject => ({
  backendRef: { kind: 'MeshService', labels: { team }, port },
});

function web(outbound: readonly JsonObject[], networking: JsonObject = {}): Resource {
  return sketch('Dataplane', 'web-1', { networking: { address: '192.0.2.1', outbound: [...outbound], ...networking } });
}

function setUp(resources: readonly Resource[], dataplane: Resource, capture?: EnvoyView['capture']) {
  const zone = new TrafficZone([...resources, dataplane]);
  const source = zoneResources(zone, 'west');
  source.follow();
  const view: EnvoyView = { mesh: 'default', listed: 'declared', dataplane: dataplane.id, ...(capture && { capture }) };
  const names = (type: string): readonly string[] => [...source.names({ id: 'web', view }, type)].sort();
  const explicit = (): readonly string[] => names(listener).filter((name) => name.startsWith('explicit:'));
  const problems = (): readonly string[] =>
    [...source.refused({ id: 'web', view })].flatMap(({ name, violations }) =>
      violations.map(({ field, reason }) => `${name} ${field}: ${reason}`),
    );
  const watched = new WatchedView(source, view);
  return { zone, source, view, names, explicit, problems, watched };
}

describe('explicit outbounds', () => {
  const [redis, mail] = [service('redis', { ports: [6379, 6380] }), service('mail', { ports: [25] })];
  const kri = (name: string, section: number | string, zone = 'west'): string =>
    `kri_msvc_default_${zone}__${name}_${section}`;

  it.each<[string, readonly Resource[], JsonObject, string]>([
    ['a name and a port', [redis], byName('redis', 6380), kri('redis', 6380)],
    ['labels', [redis, mail], byLabel('mail', 25), kri('mail', 25)],
    ['the tag of a service: its first port', [redis], tagged('redis'), kri('redis', 6379)],
    [
      'the tag and a zone',
      [redis, service('redis', { zone: 'east' })],
      tagged('redis', { 'kuma.io/zone': 'east' }),
      kri('redis', 6379, 'east'),
    ],
    [
      'a service of Kubernetes',
      [service('redis', { namespace: 'shop' })],
      tagged('redis_shop_svc_6379'),
      'kri_msvc_default_west_shop_redis_6379',
    ],
    [
      'this zone before older ones of others',
      [service('redis', { age: 9 }), service('redis', { zone: 'east' })],
      byName('redis', 6379),
      kri('redis', 6379),
    ],
    [
      'the oldest of other zones',
      [service('redis', { zone: 'east', age: 9 }), service('redis', { zone: 'north', age: 3 })],
      byName('redis', 6379),
      kri('redis', 6379, 'north'),
    ],
    [
      'a service of several zones before one of another',
      [service('redis', { zone: 'east' }), service('redis', { kind: 'MeshMultiZoneService', age: 9 })],
      tagged('redis'),
      'kri_mzsvc_default___redis_6379',
    ],
    [
      'an external service, without a port',
      [service('api', { kind: 'MeshExternalService', zone: '', ports: [443] })],
      byName('api', undefined, 'MeshExternalService'),
      'kri_extsvc_default___api_443',
    ],
  ])('lead where they say: %s', (_, services, outbound, want) => {
    const { source, view, names, explicit, problems } = setUp(services, web([{ port: 3000, ...outbound }]));
    expect(problems()).toEqual([]);
    expect(explicit()).toEqual(['explicit:127.0.0.1:3000']);
    expect(names(cluster)).toEqual([want]);
    const found = source.get(view, listener, 'explicit:127.0.0.1:3000');
    expect(JSON.stringify(typeof found === 'object' && Buffer.from(found.bytes).toString('latin1'))).toContain(want);
  });

  it.each<[string, readonly JsonObject[], JsonObject, readonly string[], RegExp]>([
    [
      'one address twice',
      [
        { port: 3000, ...byName('redis', 6379) },
        { port: 3000, ...byName('mail', 25) },
      ],
      {},
      ['explicit:127.0.0.1:3000'],
      /outbound\[1\]: 127.0.0.1:3000 is already used by an earlier outbound/,
    ],
    [
      'all addresses after one',
      [
        { port: 3000, ...byName('redis', 6379) },
        { port: 3000, address: '0.0.0.0', ...byName('mail', 25) },
      ],
      {},
      ['explicit:127.0.0.1:3000'],
      /outbound\[1\]: 0.0.0.0:3000 is already used/,
    ],
    [
      'a service that is not there',
      [
        { port: 3000, ...byName('nobody', 1) },
        { port: 3001, ...byName('mail', 25) },
      ],
      {},
      ['explicit:127.0.0.1:3001'],
      /outbound\[0\]: there is no service .*nobody/,
    ],
    [
      'a port that the service has not',
      [{ port: 3000, ...byName('mail', 26) }],
      {},
      [],
      /there is no service .*"port":26/,
    ],
    [
      'the port of an inbound',
      [{ port: 3000, address: '192.0.2.1', ...byName('mail', 25) }],
      { inbound: [{ port: 3000 }] },
      [],
      /192.0.2.1:3000 is already used by an inbound/,
    ],
    [
      'the port of the process',
      [{ port: 8080, ...byName('mail', 25) }],
      { inbound: [{ port: 3000, servicePort: 8080 }] },
      [],
      /127.0.0.1:8080 is already used by an inbound/,
    ],
    [
      'tags that choose nothing',
      [{ port: 3000, ...tagged('mail', { version: '1' }) }],
      {},
      [],
      /tags that services are not chosen by: version/,
    ],
  ])(
    'are named where they cannot be served, and the others are: %s',
    (_, ...[outbound, networking, served, problem]) => {
      const { explicit, problems } = setUp([redis, mail], web(outbound, networking));
      expect(explicit()).toEqual(served);
      expect(problems()).toEqual([expect.stringMatching(problem)]);
    },
  );

  it('follow their service: announced when it comes, goes, or another one takes its place', () => {
    const east = service('redis', { zone: 'east' });
    const dataplane = web([
      { port: 3000, ...byName('redis', 6379) },
      { port: 3001, ...byLabel('redis') },
    ]);
    const { zone, names, explicit, problems, watched } = setUp([mail], dataplane);
    expect(problems()).toHaveLength(2);
    const both = ['explicit:127.0.0.1:3000', 'explicit:127.0.0.1:3001'];
    const step = (change: () => void, clusters: readonly string[]): void => {
      watched.look();
      change();
      expect(names(cluster)).toEqual(clusters);
      expect(explicit()).toEqual(clusters.length > 0 ? both : []);
      for (const name of both) expect(watched.announced).toContain(`${listener} ${name}`);
    };
    step(() => zone.put(east), [kri('redis', 6379, 'east')]);
    step(() => zone.put(redis), [kri('redis', 6379)]);
    // The remaining one is removed too.
    expect(watched.announced).toContain(`${cluster} ${kri('redis', 6379, 'east')}`);
    step(() => zone.delete(redis), [kri('redis', 6379, 'east')]);
    expect(watched.announced).toContain(`${cluster} ${kri('redis', 6379, 'east')}`);
    step(() => zone.delete(east), []);
    expect(problems()).toHaveLength(2);
    watched.look();
    zone.put(service('other'));
    expect([...watched.announced].filter((one) => one.includes('explicit'))).toEqual([]);
  });

  it('follow their Dataplane, and take an address from a service that is bound there', () => {
    const bound = sketch('MeshService', 'bound', { ports: [{ port: 80 }] }, { status: { vip: { ip: '127.1.0.1' } } });
    const { zone, names, watched, explicit } = setUp([bound, mail], web([]), { type: 'bind' });
    expect(names(listener)).toEqual(['outbound:127.1.0.1:80']);
    zone.put(web([{ address: '127.1.0.1', port: 80, ...byName('mail', 25) }]));
    expect(names(listener)).toEqual(['explicit:127.1.0.1:80']);
    for (const name of ['outbound:127.1.0.1:80', 'explicit:127.1.0.1:80'])
      expect(watched.announced).toContain(`${listener} ${name}`);
    watched.look();
    zone.put(web([]));
    expect(explicit()).toEqual([]);
    for (const name of ['outbound:127.1.0.1:80', 'explicit:127.1.0.1:80'])
      expect(watched.announced).toContain(`${listener} ${name}`);
  });

  it('are announced where the one that was in their way has gone', () => {
    const dataplane = web([
      { port: 3000, address: '0.0.0.0', ...byName('redis', 6379) },
      { port: 3000, ...byName('mail', 25) },
    ]);
    const { zone, explicit, watched } = setUp([redis, mail], dataplane);
    expect(explicit()).toEqual(['explicit:0.0.0.0:3000']);
    zone.delete(redis);
    expect(explicit()).toEqual(['explicit:127.0.0.1:3000']);
    expect([...watched.announced]).toContain(`${listener} explicit:127.0.0.1:3000`);
  });

  it('are bounded', () => {
    const outbound = Array.from({ length: MAX_OUTBOUNDS + 2 }, (_, i) => ({ port: 1_000 + i, ...byName('mail', 25) }));
    const { explicit, problems } = setUp([mail], web(outbound));
    expect(explicit()).toHaveLength(MAX_OUTBOUNDS);
    expect(problems()).toEqual(Array(2).fill(expect.stringMatching(/at most 2000/)));
    const many = Array.from({ length: 1_001 }, (_, i) =>
      sketch('MeshService', `s${i}`, { ports: [{ port: 6379 }] }, { labels: { team: 'all' } }),
    );
    expect(setUp(many, web([{ port: 3000, ...byLabel('all') }])).problems()).toEqual([
      expect.stringMatching(/selects more than 1000 ports of services/),
    ]);
  });
});
