import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import type { JsonObject, Resource } from '@causeway/resources';
import { drawnFairly } from '../support/fair-draw';
import { loopbackBlock } from '../support/loopback-networks';
import { say, tlsEcho, type ServiceProcess } from '../support/mesh-processes';
import { PROXY_KINDS, TrafficPlane } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const PORT = 6379;
const VIP = host(7);
const ZONES = ['west', 'east', 'north'];
const addressOf = (zone: string): string => host(11 + ZONES.indexOf(zone));

/** A client of west and TLS servers of the test in place of the instance of west and of the ingresses of two other zones. */
describe.each(PROXY_KINDS)('the zones that a LoadBalancingPolicy chooses, by %s,', (kind) => {
  let west: TrafficPlane;
  const servers = new Map<string, ServiceProcess>();

  const member = (zone: string): Resource => {
    const identities = [{ type: 'SpiffeID', value: west.spiffeId('redis') }];
    const selector = { dataplaneTags: { app: 'redis' } };
    return sketch('MeshService', 'redis', { selector, ports: [{ port: PORT }], identities }, { zone });
  };
  const group = (): Resource => {
    const meshServices = ZONES.map((zone) => ({ name: 'redis', namespace: 'default', zone, mesh: 'default' }));
    const selector = { meshService: { matchLabels: { a: 'b' } } };
    const status = { vip: { ip: VIP }, meshServices };
    return sketch('MeshMultiZoneService', 'redis', { selector, ports: [{ port: PORT }] }, { status });
  };

  async function serve(name: string): Promise<void> {
    const { authority } = west;
    const { chain, key } = await authority.issue({ uri: west.spiffeId('redis') });
    const options = { cert: chain, key, ca: authority.certificate, requestCert: true };
    servers.set(name, await tlsEcho(name, options, addressOf(name), PORT));
  }

  /** Returns the name of the server that answers a connection. */
  const answerer = async (): Promise<string> => (await say(VIP, PORT, 'x')).replace(/[(:].*$/, '');
  /** Returns the servers that answer so many connections, one after the other. */
  async function answerers(count: number): Promise<readonly string[]> {
    const found: string[] = [];
    for (let i = 0; i < count; i++) found.push(await answerer());
    return found;
  }
  /** Waits until these, and no others, answer 12 connections; the first other answer ends an attempt. */
  const ledTo = (...zones: readonly string[]): Promise<boolean> =>
    until(`answers of ${zones.join()}`, async () => {
      const found = new Set<string>();
      for (let i = 0; i < 12; i++) {
        const name = await answerer();
        if (!zones.includes(name)) return false;
        found.add(name);
      }
      return found.size === zones.length;
    });

  let age = 0;
  async function locality(spec: JsonObject): Promise<void> {
    const targetRefs = [{ kind: 'Mesh', name: 'default' }];
    const made = sketch('LoadBalancingPolicy', 'zones', { targetRefs, locality: spec }, { creationOrder: ++age });
    west.state.put({ ...made, id: { ...made.id, namespace: 'default' }, generation: age });
    await until('what the client was told', () => west.isSettled('client'));
  }

  beforeAll(async () => {
    west = await TrafficPlane.start('west');
    const inbound = [{ port: PORT, state: 'Ready', tags: { app: 'redis' } }];
    west.state.put(
      ...shippedPolicies.map((each) =>
        sketch('MetaresourceDefinition', shippedDefinitionName(each), shippedDefinition(each)),
      ),
      west.trust(),
      sketch('Mesh', 'default', {}),
      sketch('Namespace', 'default', {}),
      group(),
      ...ZONES.map((zone) => member(zone)),
      ...['east', 'north'].flatMap((zone) => [
        sketch('Zone', zone, {}),
        sketch('MeshZoneAddress', 'in', { address: addressOf(zone), port: PORT }, { zone }),
      ]),
      sketch('Dataplane', 'redis', { networking: { address: addressOf('west'), inbound } }),
    );
    await Promise.all(ZONES.map(serve));
    const view = { mesh: 'default', listed: 'all', capture: { type: 'bind' } } as const;
    await west.proxy(kind, 'client', view, 'client');
    await ledTo('west');
  });
  afterAll(async () => {
    await west.stop();
    await Promise.all([...servers.values()].map((one) => one.stop()));
  });
  afterEach(() => expect(west.problems()).toEqual([]));

  it('by weights, the own zone as any other', async () => {
    await locality({ localFirst: false, weights: { west: 1, east: 3, north: 0 } });
    await ledTo('east', 'west');
    expect(await drawnFairly(() => answerers(200), { west: 1, east: 3 })).toEqual([]);
  });

  it('one after the other, as each fails and comes back', async () => {
    await locality({ failover: ['north'] });
    await ledTo('west');
    await servers.get('west')?.stop();
    await ledTo('north');
    await servers.get('north')?.stop();
    await ledTo('east');
    await serve('north');
    await ledTo('north');
    await serve('west');
    await ledTo('west');
  });
});
