import { coreKinds } from '@causeway/kinds';
import type { JsonObject, Kind } from '@causeway/resources';
import { MeshView } from '@causeway/sync';
import { compareStores } from './compare-stores';
import { toResource } from '../../refs';

function kindNamed(name: string): Kind {
  const kind = coreKinds.kind(name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}

const mesh = { name: 'default', parameters: {} };
const zones = ['east', 'west'].map((name) =>
  toResource(kindNamed('Zone'), { name, labels: { 'kuma.io/origin': 'global' }, spec: { enabled: true } }),
);
const view = MeshView.of([mesh], zones);

/** A MeshService of a zone as a list shows it. */
const service = (name: string, zone: string, more: JsonObject = {}): JsonObject => ({
  name,
  mesh: 'default',
  namespace: 'default',
  kri: `kri_msvc_default_${zone}__${name}_`,
  labels: { 'kuma.io/origin': 'zone', 'kuma.io/zone': zone, team: 'db' },
  spec: { state: 'Available', ports: [{ port: 1 }] },
  ...more,
});

const generator = (name: string): JsonObject => ({
  name,
  labels: { 'kuma.io/origin': 'global' },
  spec: { template: 'x' },
});

describe('compareStores, of zone east', () => {
  const stores: readonly [string, string, readonly JsonObject[], readonly JsonObject[], readonly string[]][] = [
    ['the same', 'MeshService', [service('a', 'west')], [service('a', 'west')], []],
    [
      'a copy, which a zone labels as the global sent it',
      'MeshService',
      [service('a', 'west')],
      [service('a', 'west', { labels: { 'kuma.io/origin': 'global', 'kuma.io/zone': 'west', team: 'db' } })],
      [],
    ],
    ['a service of another zone that is missing', 'MeshService', [service('a', 'west')], [], ['zone lacks west/a']],
    [
      'a copy that is older',
      'MeshService',
      [service('a', 'west')],
      [service('a', 'west', { spec: { state: 'Unavailable', ports: [{ port: 1 }] } })],
      ['zone differs west/a spec.state'],
    ],
    ['a copy whose original is gone', 'MeshService', [], [service('a', 'west')], ['zone left over west/a']],
    ['a service that the global lacks', 'MeshService', [], [service('a', 'east')], ['global lacks east/a']],
    ['a service that the global still has', 'MeshService', [service('a', 'east')], [], ['global left over east/a']],
    [
      'labels that differ, but for computed ones',
      'MeshService',
      [service('a', 'east')],
      [
        service('a', 'east', {
          labels: { 'kuma.io/origin': 'zone', 'kuma.io/zone': 'east', team: 'web', 'kuma.io/env': 'universal' },
        }),
      ],
      ['global differs east/a labels.team'],
    ],
    [
      'a service that is kept out of sync',
      'MeshService',
      [],
      [
        service('a', 'east', {
          labels: { 'kuma.io/origin': 'zone', 'kuma.io/zone': 'east', 'kuma.io/kds-sync': 'disabled' },
        }),
      ],
      [],
    ],
    ['a service of an unknown mesh', 'MeshService', [service('a', 'west', { mesh: 'shop' })], [], []],
    ['a generator of the global', 'HostnameGenerator', [generator('g')], [], ['zone lacks /g']],
    [
      'a secret whose value is not shown',
      'GlobalSecret',
      [{ name: 's', labels: { 'kuma.io/origin': 'global' } }],
      [{ name: 's', labels: { 'kuma.io/origin': 'global' } }],
      [],
    ],
  ];
  it.each(stores.map(([title, ...rest]) => ({ title, rest })))('$title', ({ rest: [name, global, zone, want] }) => {
    const kind = kindNamed(name);
    const inGlobal = global.map((item) => toResource(kind, item));
    const inZone = zone.map((item) => toResource(kind, item));
    const found = compareStores({ kind, zone: 'east', inGlobal, inZone, view });
    expect(
      found.map(({ where, state, id, parts }) => [where, state, `${id.zone}/${id.name}`, ...parts].join(' ')),
    ).toEqual(want);
  });
});
