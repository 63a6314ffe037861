import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Resource } from '@causeway/resources';
import { type AdsClient, RESOURCE_TYPES, type XdsServer } from '@causeway/xds-server';
import type { EnvoyView } from '@causeway/xds-translation';
import { openAgentCache, serveZone } from '../../../../test/support/agent-cache';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { until } from '../../../../test/support/until';
import type { LocalAddress } from '../capture/local-address';
import type { ResourceCache } from '../resources/resource-cache';
import { OnDemandListeners } from './on-demand-listeners';
import type { StatSnapshot } from './stats';

const { cluster, listener } = RESOURCE_TYPES;
const PORT = 6_379;
const MAX = 40;
const makeAddress = (n: number): LocalAddress => ({ address: `241.0.0.${n}`, port: PORT });
const formatName = (n: number): string => `outbound:241.0.0.${n}:${PORT}`;
const service = (n: number): Resource =>
  sketch(
    'MeshService',
    `redis-${n}`,
    { selector: { dataplaneTags: { app: `redis-${n}` } }, ports: [{ port: PORT }] },
    { status: { vip: { ip: `241.0.0.${n}` } } },
  );
const many = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, i) => from + i);

/** A zone that sends a machine its resources over ADS; the plane only notes what it takes. */
describe('addresses at which a plane listens on demand', () => {
  let zone: TrafficZone;
  let server: XdsServer<EnvoyView>;
  let folder: string;
  let cache: ResourceCache;
  let client: AdsClient;
  let listeners: OnDemandListeners;
  let xdsPort = 0;
  let connections: Record<string, { readonly active: number; readonly total: number }>;
  let refused: string[];
  let closed: string[];
  const view: EnvoyView = { mesh: 'default', listed: 'declared', capture: { type: 'bind', onDemand: true } };

  const start = async (): Promise<void> => {
    ({ cache, client } = await openAgentCache(folder, xdsPort, () => Promise.resolve(undefined)));
    listeners = new OnDemandListeners({
      resources: cache,
      plane: {
        take: ({ names }) => Promise.resolve(closed.push(...names)),
        stats: () =>
          Promise.resolve(
            Object.entries(connections).map(([name, { active, total }]): StatSnapshot[number] => [
              'listener',
              name,
              { downstream_cx_active: active, downstream_cx_total: total },
            ]),
          ),
      },
      refuse: ({ address, port }) => refused.push(`${address}:${port}`),
      max: MAX,
    });
  };
  const stop = async (): Promise<void> => {
    listeners.close();
    client.close();
    await cache.close();
  };
  const bound = (): readonly string[] =>
    [...cache.names(listener)].filter((name) => cache.appliedVersion(listener, name));

  beforeEach(async () => {
    [connections, refused, closed] = [{}, [], []];
    zone = new TrafficZone();
    zone.put(...many(1, 101).map(service));
    ({ server, port: xdsPort } = await serveZone(zone, view));
    folder = await mkdtemp(join(tmpdir(), 'causeway-on-demand-'));
    await start();
    await until('the zone', () => client.state.type === 'connected');
  });
  afterEach(async () => {
    await stop();
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('are none at first, then those that were asked for or dialled, with their clusters', async () => {
    listeners.asked([makeAddress(1)]);
    await until('the first', () => bound().length === 1);
    for (const n of many(2, 31)) listeners.dial(makeAddress(n));
    await until('all', () => bound().length === 30);
    expect([...cache.names(cluster)]).toHaveLength(30);
    expect(refused).toEqual([]);
  });

  it('are refused where the zone knows no service, and taken when one comes', async () => {
    listeners.dial(makeAddress(200));
    await until('the refusal', () => refused.length === 1);
    expect([refused, [...cache.listWanted(listener)]]).toEqual([[`241.0.0.200:${PORT}`], []]);
    zone.put(service(200));
    await until('the service', () => {
      listeners.dial(makeAddress(200));
      return bound().includes(formatName(200));
    });
    zone.delete(service(200));
    await until('its end', () => bound().length === 0);
    expect([...cache.listWanted(listener)]).toEqual([]);
    // Whoever asks for a name is not refused: nobody has dialled.
    listeners.asked([makeAddress(201)]);
    await until('the answer', () => [...cache.listWanted(listener)].length === 0);
    expect(refused.filter((at) => at === `241.0.0.201:${PORT}`)).toEqual([]);
  });

  it('are closed when they are too many: the least recently used without connections', async () => {
    for (const n of many(1, MAX + 1)) listeners.dial(makeAddress(n));
    await until('all', () => bound().length === MAX);
    expect(listeners.use).toEqual({ bound: MAX, max: MAX });
    // The first has a connection, the second had one, the third was asked for again, the fourth was not used.
    connections = {
      [`241.0.0.1_${PORT}`]: { active: 1, total: 1 },
      [`241.0.0.2_${PORT}`]: { active: 0, total: 3 },
    };
    listeners.asked([makeAddress(3)]);
    listeners.dial(makeAddress(MAX + 1));
    await listeners.settled();
    expect(closed).toEqual([4, 5, 6].map(formatName));
    await until('the new one', () => bound().includes(formatName(MAX + 1)));
    expect(bound()).toEqual(expect.arrayContaining([1, 2, 3].map(formatName)));
    listeners.dial(makeAddress(4));
    await until('the closed one', () => bound().includes(formatName(4)));
  });

  it('with connections are never closed for others', async () => {
    for (const n of many(1, MAX + 1)) {
      listeners.dial(makeAddress(n));
      connections[`241.0.0.${n}_${PORT}`] = { active: 1, total: 1 };
    }
    await until('all', () => bound().length === MAX);
    for (const n of many(MAX + 1, MAX + 20)) listeners.dial(makeAddress(n));
    await listeners.settled();
    expect(listeners.use.bound).toBeLessThanOrEqual(MAX + 3);
    expect(
      closed.filter((name) =>
        many(1, MAX + 1)
          .map(formatName)
          .includes(name),
      ),
    ).toEqual([]);
  });

  it('are the same after a restart', async () => {
    for (const n of many(1, 6)) listeners.dial(makeAddress(n));
    await until('all', () => bound().length === 5);
    await stop();
    await start();
    expect(bound()).toEqual(many(1, 6).map(formatName));
    await until('the zone', () => client.state.type === 'connected');
    zone.delete(service(3));
    await until('its end', () => bound().length === 4);
    expect([...cache.listWanted(listener)]).toEqual([1, 2, 4, 5].map(formatName));
  });
});
