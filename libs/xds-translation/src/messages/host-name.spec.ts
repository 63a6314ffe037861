import { RESOURCE_TYPES, XdsServer } from '@causeway/xds-server';
import type { EnvoyView } from '@causeway/xds-translation';
import { silentLogger, systemClock } from '@causeway/runtime';
import type { DeltaDiscoveryResponse } from '@causeway/proto-gen';
import type { Resource } from '@causeway/resources';
import { deltaClient, type DeltaClient } from '../../../../test/support/ads-client';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { until } from '../../../../test/support/until';
import { readHostName, type HostNameMeaning } from './host-name';
import { zoneResources } from '../../../../test/support/zone-resources';

const { hostName } = RESOURCE_TYPES;
const REDIS = 'redis.svc.mesh.local';

const redis = (given: { ip?: string; mesh?: string; hostnames?: readonly string[] } = {}): Resource =>
  sketch(
    'MeshService',
    'redis',
    {
      selector: { dataplaneTags: { app: 'redis' } },
      ports: [{ port: 9121 }, { port: 6379, name: 'redis', targetPort: 7000 }],
    },
    {
      mesh: given.mesh ?? 'default',
      status: {
        ...(given.ip === undefined ? {} : { vip: { ip: given.ip } }),
        addresses: (given.hostnames ?? [REDIS]).map((hostname) => ({ hostname, status: 'Available' })),
      },
    },
  );
const instance = (name: string): Resource =>
  sketch('Dataplane', name, { networking: { address: '10.0.0.1', inbound: [{ port: 7000, tags: { app: 'redis' } }] } });

const meanings = ({ resources }: DeltaDiscoveryResponse): (HostNameMeaning | undefined)[] =>
  resources.map(({ resource }) => resource && readHostName(resource.value));

describe('what a hostname means, over ADS', () => {
  let zone: TrafficZone;
  let server: XdsServer<EnvoyView>;
  let client: DeltaClient;
  const view: EnvoyView = { mesh: 'default', listed: 'declared' };

  beforeEach(async () => {
    zone = new TrafficZone();
    const source = zoneResources(zone, 'west');
    source.follow();
    const auth = { admit: async () => ({ proxy: { id: 'agent', view } }), onChange: () => () => undefined };
    server = new XdsServer({ source, auth, clock: systemClock, logger: silentLogger });
    client = deltaClient(await server.listen('127.0.0.1', 0));
  });
  afterEach(async () => {
    await client.close();
    await server.close();
  });
  const asked = async (...names: string[]): Promise<DeltaDiscoveryResponse> => {
    const { length } = client.responses;
    client.send({ typeUrl: hostName, resourceNamesSubscribe: names });
    return next(length);
  };
  const next = async (number: number): Promise<DeltaDiscoveryResponse> => {
    const response = await client.response(number);
    client.ack(response);
    return response;
  };

  it('is sent with addresses, ports and service', async () => {
    zone.put(redis({ ip: '241.0.0.7' }));
    expect(meanings(await asked(REDIS))).toEqual([
      {
        hostname: REDIS,
        service: { kind: 'MeshService', mesh: 'default', zone: 'west', namespace: 'default', name: 'redis' },
        addresses: ['241.0.0.7'],
        ports: [
          { number: 6379, name: 'redis', cluster: 'kri_msvc_default_west__redis_redis' },
          { number: 9121, name: '9121', cluster: 'kri_msvc_default_west__redis_9121' },
        ],
      },
    ]);
  });

  it('is sent as unknown, again when a service gets the name, and again when it loses it', async () => {
    expect((await asked(REDIS)).removedResources).toEqual([REDIS]);
    zone.put(redis());
    expect(meanings(await next(1))).toEqual([expect.objectContaining({ hostname: REDIS, addresses: [] })]);
    zone.put(redis({ ip: '241.0.0.7' }));
    expect(meanings(await next(2))).toEqual([expect.objectContaining({ addresses: ['241.0.0.7'] })]);
    zone.put(redis({ ip: '241.0.0.7', hostnames: ['redis.other'] }));
    expect((await next(3)).removedResources).toEqual([REDIS]);
  });

  it('is that of its own mesh only, and of a hostname only', async () => {
    zone.put(redis({ ip: '241.0.0.9', mesh: 'other' }), redis({ ip: '241.0.0.7', hostnames: ['only.here'] }));
    const names = [REDIS, 'only.here:6379', 'kri_msvc_default_west__redis_redis', '', 'only.here'];
    const response = await asked(...names);
    expect(meanings(response)).toEqual([expect.objectContaining({ hostname: 'only.here', addresses: ['241.0.0.7'] })]);
    expect([...response.removedResources].sort()).toEqual(names.slice(0, -1).sort());
  });

  it('is not sent again when only instances of the service come and go', async () => {
    zone.put(redis({ ip: '241.0.0.7' }));
    await asked(REDIS);
    zone.put(instance('redis-1'));
    zone.delete(instance('redis-1'));
    zone.put(redis({ ip: '241.0.0.8' }));
    expect(meanings(await next(1))).toEqual([expect.objectContaining({ addresses: ['241.0.0.8'] })]);
    await until('the ack', () => server.proxies()[0]?.types[0]?.held === 1);
    expect(client.responses).toHaveLength(2);
  });
});
