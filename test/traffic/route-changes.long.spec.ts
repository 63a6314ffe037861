import { ENVOY } from '../support/envoy-process';
import { RequestLoad } from './request-load';
import { RoutedService, VERSIONS, WayOfRequests, type ChangeKind } from './route-changes';
import { TrafficMesh } from './traffic-mesh';

/** Requests a second in each zone; fewer where the machine cannot answer them. */
const LOAD = { rate: 100, fresh: 20, mostOpen: 50 };
const KINDS: readonly ChangeKind[] = ['weight', 'match'];

(ENVOY === undefined ? describe.skip : describe)('a route that is changed under load', () => {
  let traffic: TrafficMesh | undefined;
  let service: RoutedService | undefined;
  const started = (): { traffic: TrafficMesh; service: RoutedService } => {
    if (!traffic || !service) throw new Error('not started');
    return { traffic, service };
  };

  beforeAll(async () => {
    traffic = await TrafficMesh.start();
    service = await RoutedService.start(traffic);
    for (const zone of traffic.zones) {
      await traffic.client(zone);
      const at = await traffic.vip(zone, 'one', 'east');
      const way = new WayOfRequests();
      const load = new RequestLoad(at, { ...LOAD, answered: way.answered });
      await way.all('one', performance.now());
      await load.stop();
    }
  });
  afterAll(async () => {
    await service?.stop();
    await traffic?.stop();
  });

  async function expectChanges(plane: 'global' | 'east', zones: readonly string[]): Promise<void> {
    const { traffic, service } = started();
    const loads = await Promise.all(
      zones.map(async (zone) => {
        const way = new WayOfRequests();
        const at = await traffic.vip(zone, 'one', 'east');
        return { way, load: new RequestLoad(at, { ...LOAD, answered: way.answered }) };
      }),
    );
    const writer = plane === 'global' ? traffic.mesh.global : traffic.zone(plane);
    for (const to of [...VERSIONS, ...VERSIONS].reverse())
      for (const kind of KINDS) {
        for (const { way } of loads) way.forget();
        const sent = performance.now();
        await service.put(writer, kind, to);
        await Promise.all(loads.map(({ way }) => way.all(to, sent)));
      }
    await service.delete(writer);
    const since = performance.now();
    await Promise.all(loads.map(({ way }) => way.all('one', since)));
    for (const { load } of loads) expect((await load.stop()).failures).toEqual([]);
  }

  it('each change of a zone’s route comes into force there, and no request fails', () =>
    expectChanges('east', ['east']));

  it('each change of a route of the global comes into force in both zones, and no request fails', () =>
    expectChanges('global', ['east', 'west']));
});
