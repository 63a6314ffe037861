import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { WatchedView } from '../../../../test/support/watched-view';
import { type EnvoyResources } from './envoy-resources';
import type { EnvoyView } from '../views/envoy-view';
import { zoneResources } from '../../../../test/support/zone-resources';

describe('the egresses of a zone', () => {
  const egress = (name: string, address: string, withdrawn = false) =>
    sketch(
      'ZoneEgress',
      name,
      { networking: { address, port: 10002 } },
      { status: withdrawn ? { conditions: [{ type: 'Withdrawn', status: 'True' }] } : {} },
    );
  const mesh = (narrowed: number) => sketch('Mesh', 'default', {}, { status: { access: { narrowed } } });
  const identity = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled' } };
  const endpoints = [{ address: '1.1.1.1', port: 443 }];
  const external = { match: { port: 443, protocol: 'tcp' }, endpoints };
  let zone: TrafficZone;
  let source: EnvoyResources;
  beforeEach(() => {
    zone = new TrafficZone([
      mesh(0),
      egress('a', '10.0.0.1'),
      egress('b', '10.0.0.2'),
      sketch('MeshIdentity', 'all', identity, { zone: '' }),
      sketch('MeshExternalService', 'api', external, { zone: '' }),
    ]);
    source = zoneResources(zone, 'west');
    source.follow();
  });

  it.each<[string, readonly (readonly [string, string, boolean?])[], readonly string[]]>([
    ['that is withdrawn, the others', [['a', '10.0.0.1', true]], ['10.0.0.2']],
    [
      'that all are withdrawn, all',
      [
        ['a', '10.0.0.1', true],
        ['b', '10.0.0.2', true],
      ],
      ['10.0.0.1', '10.0.0.2'],
    ],
    ['that moves, its new address', [['a', '10.0.0.3']], ['10.0.0.2', '10.0.0.3']],
    ['that moves and is withdrawn, the others', [['a', '10.0.0.3', true]], ['10.0.0.2']],
  ])('are reached: of one %s', (_, changed, wanted) => {
    zone.put(...changed.map(([name, address, withdrawn]) => egress(name, address, withdrawn)));
    expect(source.model.egress.addresses.map(({ address }) => address)).toEqual(wanted);
  });

  it('have rules about who may call, a withdrawn one too', () => {
    zone.put(egress('a', '10.0.0.1', true));
    const watched = ['10.0.0.1', '10.0.0.2'].map((address) => {
      const view: EnvoyView = {
        mesh: '',
        listed: new Set<string>(),
        egress: { at: { address, port: 10002 }, identity: () => undefined },
      };
      return new WatchedView(source, view);
    });
    zone.put(mesh(1));
    const names = watched.map(({ announced }) => [...announced].filter((name) => name.includes(' egress:')));
    expect(names.map((found) => found.map((each) => each.split(' ')[1]).sort())).toEqual([
      ['egress:10.0.0.1:10002', 'egress:10.0.0.2:10002'],
      ['egress:10.0.0.1:10002', 'egress:10.0.0.2:10002'],
    ]);
  });
});
