import type { Resource } from '@causeway/resources';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { EnvoyView } from '../views/envoy-view';
import { zoneResources } from '../../../../test/support/zone-resources';

const { cluster, listener } = RESOURCE_TYPES;
const VIEWS: readonly EnvoyView[] = [
  { mesh: 'default', listed: 'all', capture: { type: 'bind' } },
  { mesh: 'default', listed: 'all', capture: { type: 'translate' } },
  { mesh: 'default', listed: new Set(), ingress: { address: '127.0.0.1', port: 10_001 } },
];

/** A service with an instance here. */
const service = (n: number): readonly Resource[] => {
  const tags = { app: `s${n}` };
  const at = { zone: 'west', status: { vip: { ip: `241.0.${n >> 8}.${n & 255}` } } };
  const networking = { address: '10.0.0.1', inbound: [{ port: 80, tags }] };
  return [
    sketch('MeshService', `s${n}`, { ports: [{ port: 80 }], selector: { dataplaneTags: tags } }, at),
    sketch('Dataplane', `s${n}`, { networking }, { zone: 'west' }),
  ];
};

/** The names that each list has, how many destinations were looked at for the last service, and which names it brought. */
function withOneMore(services: number) {
  const zone = new TrafficZone(Array.from({ length: services }, (_, n) => service(n)).flat());
  const source = zoneResources(zone, 'west');
  source.follow();
  const lists = () =>
    VIEWS.flatMap((view) => [cluster, listener].map((type) => new Set(source.names({ id: 'p', view }, type))));
  const before = lists();
  zone.put(...service(services));
  const looks = jest.spyOn(source.model, 'config');
  const after = lists();
  const came = after.map((names, i) => [...names].filter((name) => !before[i]?.has(name)).length);
  return { sizes: after.map(({ size }) => size), came, looks: looks.mock.calls.length };
}

/** The bound of `bind` (docs/reference/xds.md). */
const MAX_BOUND_ADDRESSES = 2_000;

describe('the lists of proxies', () => {
  it('cost one more service what it brings, however many there are', () => {
    const [few, many] = [withOneMore(10), withOneMore(500)];
    expect(few.sizes).toEqual([11, 11, 11, 0, 22, 1]);
    expect(many.sizes).toEqual([501, 501, 501, 0, 1002, 1]);
    expect(many.came).toEqual([1, 1, 1, 0, 2, 0]);
    expect(few.came).toEqual(many.came);
    expect(many.looks).toBe(few.looks);
    expect(many.looks).toBeLessThan(30);
  });

  it('of `bind` without declared backends have a bound: what is bound stays, and what goes makes room', () => {
    const view: EnvoyView = { mesh: 'default', listed: 'declared', capture: { type: 'bind' } };
    const last = MAX_BOUND_ADDRESSES + 2;
    const zone = new TrafficZone(Array.from({ length: last }, (_, n) => service(n + 1)).flat());
    const source = zoneResources(zone, 'west');
    source.follow();
    const bound = () => new Set(source.names({ id: 'p', view }, listener));
    const formatName = (n: number): string => `outbound:241.0.${n >> 8}.${n & 255}:80`;
    const excess = () => [...source.refused({ id: 'p', view })].map(({ violations }) => violations[0]?.reason);
    const first = bound();
    expect(first.size).toBe(MAX_BOUND_ADDRESSES);
    expect([1, 2_000, 2_001, 2_002].map((n) => first.has(formatName(n)))).toEqual([true, true, false, false]);
    expect(excess()).toEqual([expect.stringMatching(/listens at 2000 addresses, and 2 more are not bound/)]);
    // A service with a lower address displaces nothing.
    zone.put(...service(0));
    expect(bound()).toEqual(first);
    zone.delete(...service(7));
    const next = bound();
    expect([next.size, next.has(formatName(7)), next.has(formatName(2_001))]).toEqual([
      MAX_BOUND_ADDRESSES,
      false,
      true,
    ]);
    expect(source.names({ id: 'p', view }, cluster).size).toBe(MAX_BOUND_ADDRESSES);
    zone.delete(...service(8), ...service(2_002));
    expect([bound().size, excess()]).toEqual([MAX_BOUND_ADDRESSES, []]);
  });
});
