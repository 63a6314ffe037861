import { OracleSource } from '../../../../test/support/oracle-source';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { RESOURCE_TYPES, type SourceListener } from '@causeway/xds-server';
import { EnvoyResources } from './envoy-resources';
import type { EnvoyView } from '../views/envoy-view';
import { resourceOptions, zoneResources } from '../../../../test/support/zone-resources';

const { cluster, endpoints, listener } = RESOURCE_TYPES;
const WEB = 'kri_msvc_default_west__web_80';
const VIEW: EnvoyView = { mesh: 'default', capture: { type: 'bind' }, listed: 'all' };

const service = (name: string, ip: string) =>
  sketch(
    'MeshService',
    name,
    { ports: [{ port: 80 }], selector: { dataplaneTags: { app: name } } },
    { status: { vip: { ip } } },
  );
const instance = (address: string) =>
  sketch('Dataplane', 'web-1', { networking: { address, inbound: [{ port: 80, tags: { app: 'web' } }] } });

/** Resources of which some changes are not announced. */
class Muted extends EnvoyResources {
  mute: 'nothing' | 'endpoints' | 'lists' = 'nothing';

  override subscribe(of: SourceListener<EnvoyView>): () => void {
    return super.subscribe({
      ...of,
      changed: (change) => {
        if (this.mute !== 'endpoints' || change.type !== endpoints) of.changed(change);
      },
      relisted: (change) => {
        if (this.mute !== 'lists') of.relisted(change);
      },
    });
  }
}

/** Returns what is stale at a proxy that holds everything, after an instance moved and a service came. */
function leftBehind(mute: Muted['mute']): readonly string[] {
  const zone = new TrafficZone([service('web', '241.0.0.1'), instance('10.0.0.1')]);
  const source = new Muted(zone.index, 'west', zone.access, resourceOptions(zone, 'west'));
  source.mute = mute;
  source.follow();
  const oracle = new OracleSource(source, () => zoneResources(zone, 'west'));
  for (const type of [cluster, listener])
    for (const name of oracle.names({ id: 'p', view: VIEW }, type)) oracle.get(VIEW, type, name);
  oracle.get(VIEW, endpoints, WEB);
  zone.put(instance('10.0.0.2'));
  zone.put(service('shop', '241.0.0.2'));
  oracle.check();
  expect(oracle.compared).toBeGreaterThanOrEqual(2);
  return oracle.differences.map((each) => each.split(' ').slice(0, 2).join(' '));
}

describe('the oracle of what proxies hold', () => {
  it.each<[Muted['mute'], readonly string[]]>([
    ['nothing', []],
    ['endpoints', [`${endpoints} ${WEB}`]],
    ['lists', [`${cluster} of`, `${listener} of`]],
  ])('finds what is left behind where %s is not announced', (mute, wanted) => {
    expect(leftBehind(mute)).toEqual(wanted);
  });
});
