import { Type } from 'typebox';
import { defineKind, Sync, type JsonValue, type Kind, type Resource } from '@causeway/resources';
import type { SyncRule } from '@causeway/resources/testing';
import { MeshView } from './mesh-view';
import { isKindSentDown, isKindSentUp, isOwnedByStream, isSentDown, isSentUp, ownershipViolation } from './sync-rules';

const kindOf = (sync: SyncRule, scope: 'global' | 'mesh' = 'mesh'): Kind =>
  defineKind({ name: 'Thing', plural: 'things', shortName: 't', scope, sync, spec: Type.Object({}) });

const resource = (zone: string, rest: Partial<Resource> & { readonly mesh?: string } = {}): Resource => ({
  id: { kind: 'Thing', mesh: rest.mesh ?? 'default', zone, namespace: '', name: 'x' },
  uid: 'u',
  labels: { 'kuma.io/origin': 'global' },
  spec: {},
  generation: 1,
  creationOrder: 1,
  createdAt: 0,
  modifiedAt: 0,
  revision: 1,
  origin: { incarnation: 'i', revision: 1, committedAt: 0 },
  freed: [],
  ...rest,
});

const zoneRow = (name: string, spec: Resource['spec'] = {}): Resource => ({
  ...resource(''),
  id: { ...resource('').id, name },
  spec,
});
const meshRow = { name: 'default', parameters: {} };
const VIEW = MeshView.of([meshRow], [zoneRow('east'), zoneRow('west'), zoneRow('shut', { enabled: false })]);
const WEST = { zone: 'west', causeway: true };
const KUMA_WEST = { zone: 'west', causeway: false };

describe('kinds that are sent down and up', () => {
  it.each([
    ['meshWide', true, true, false],
    ['fromGlobal', true, true, false],
    ['zoneList', true, false, false],
    ['toGlobal', false, false, true],
    ['acrossZones', true, true, true],
    ['bothWays', true, true, true],
    ['routes', true, false, true],
    ['secrets', true, true, false],
    ['settings', true, false, false],
    ['zoneAddresses', true, true, true],
    ['relayedPolicies', false, true, false],
  ] as const)('%s', (rule, down, downToKuma, up) => {
    const kind = kindOf(Sync[rule]);
    expect([isKindSentDown(kind, WEST), isKindSentDown(kind, KUMA_WEST), isKindSentUp(kind, WEST)]).toEqual([
      down,
      downToKuma,
      up,
    ]);
  });
});

describe('isSentDown', () => {
  const across = kindOf(Sync.acrossZones);
  it.each([
    ["another zone's", resource('east'), true],
    ["the zone's own", resource('west'), false],
    ["the global's", resource(''), true],
    ['of a disabled zone', resource('shut'), false],
    ['of a zone that is no more', resource('gone'), false],
    ['of a mesh that is no more', resource('east', { mesh: 'gone' }), false],
    ['kept out by label', resource('east', { labels: { 'kuma.io/kds-sync': 'disabled' } }), false],
  ])('%s: %s', (_, held, want) => {
    expect(isSentDown(across, held, WEST, VIEW)).toBe(want);
  });

  it("what was made with a Mesh goes to Causeway zones only: Kuma's would turn proxies away", () => {
    const held = resource('', { labels: { 'causeway.io/made-with': 'mesh' } });
    const kind = kindOf(Sync.bothWays);
    expect([WEST, KUMA_WEST].map((peer) => isSentDown(kind, held, peer, VIEW))).toEqual([true, false]);
    expect(isSentDown(kind, resource(''), KUMA_WEST, VIEW)).toBe(true);
  });

  it.each([
    ['of a producer', 'east', 'producer', true],
    ['of a consumer', 'east', 'consumer', false],
    ['of an operator of a zone', 'east', 'system', false],
    ['without a role', 'east', undefined, false],
    ["of the zone's own producer", 'west', 'producer', false],
  ])('a policy of Kuma %s', (_, zone, role, want) => {
    const labels = role === undefined ? {} : { 'kuma.io/policy-role': role };
    expect(isSentDown(kindOf(Sync.relayedPolicies), resource(zone, { labels }), KUMA_WEST, VIEW)).toBe(want);
  });

  const rule = (mode: string, zones?: JsonValue): Partial<Resource> => ({
    spec: { export: zones === undefined ? { mode } : { mode, zones } },
  });
  const labelled = MeshView.of([meshRow], [zoneRow('east'), { ...zoneRow('west'), labels: { region: 'eu' } }]);
  it.each<[string, Partial<Resource>, boolean]>([
    ['to all', rule('All'), true],
    ['to none', rule('None'), false],
    ['to zones by name', rule('Subset', ['north', 'west']), true],
    ['to other zones by name', rule('Subset', ['north']), false],
    ['to zones by label', rule('Subset', { matchLabels: { region: 'eu' } }), true],
    ['to zones by other labels', rule('Subset', { matchLabels: { region: 'us' } }), false],
    ['to a subset of what cannot be read', rule('Subset', { matchLabels: { region: 1 } }), false],
    ['by a mode of a later version', rule('Some'), false],
  ])('exported %s: %s', (_, exported, want) => {
    expect(isSentDown(across, resource('east', exported), WEST, labelled)).toBe(want);
  });

  it('exports to none by default where configuration says so', () => {
    const closed = MeshView.of([meshRow], [zoneRow('east'), zoneRow('west')], 'None');
    expect(isSentDown(across, resource('east'), WEST, closed)).toBe(false);
    expect(isSentDown(across, resource('east', rule('All')), WEST, closed)).toBe(true);
  });

  it('sends where a zone is entered, whatever is exported, as long as the zone is visible', () => {
    const closed = MeshView.of(
      [meshRow],
      [zoneRow('east'), zoneRow('west'), zoneRow('shut', { enabled: false })],
      'None',
    );
    const addresses = kindOf(Sync.zoneAddresses);
    const sent = ['east', 'west', 'shut', 'gone'].map((zone) => isSentDown(addresses, resource(zone), WEST, closed));
    expect(sent).toEqual([true, false, false, false]);
    const lost = {
      ...zoneRow('east'),
      status: { lost: { since: 'then', policy: 'withdraw', meshes: { shop: 'keep' } } },
    };
    const meshes = [meshRow, { name: 'shop', parameters: {} }];
    const view = MeshView.of(meshes, [lost, zoneRow('west')]);
    const kept = ['default', 'shop'].map((mesh) => isSentDown(addresses, resource('east', { mesh }), WEST, view));
    const ofAll = isSentDown(kindOf(Sync.zoneAddresses, 'global'), resource('east', { mesh: '' }), WEST, view);
    expect([kept, ofAll]).toEqual([[false, true], true]);
  });

  it('T000-24 exports by the default of the mesh, where it has one', () => {
    const meshes = [meshRow, { name: 'shop', parameters: { exportDefault: 'None' as const } }];
    const view = MeshView.of(meshes, [zoneRow('east'), zoneRow('west')]);
    const sent = (rest: Parameters<typeof resource>[1]): boolean =>
      isSentDown(across, resource('east', rest), WEST, view);
    expect([sent({}), sent({ mesh: 'shop' }), sent({ mesh: 'shop', ...rule('All') })]).toEqual([true, false, true]);
    expect(view.describe(across)).not.toBe(
      MeshView.of([meshRow, { name: 'shop', parameters: {} }], [zoneRow('east'), zoneRow('west')]).describe(across),
    );
    expect(view.meshesChangedSince(VIEW)).toEqual(['shop']);
  });

  it('of a zone that is lost for one mesh: that of the others', () => {
    const lost = { ...zoneRow('east'), status: { lost: { since: 'then', meshes: { shop: 'withdraw' } } } };
    const meshes = [meshRow, { name: 'shop', parameters: {} }];
    const view = MeshView.of(meshes, [lost, zoneRow('west')]);
    const before = MeshView.of(meshes, [zoneRow('east'), zoneRow('west')]);
    const sent = ['default', 'shop'].map((mesh) => isSentDown(across, resource('east', { mesh }), WEST, view));
    expect([sent, view.zonesChangedSince(before)]).toEqual([[true, false], ['east']]);
    expect(view.describe(across)).not.toBe(before.describe(across));
  });

  it.each([
    ['withdraw', false],
    ['depreferred', true],
    ['keep', true],
  ])('of a lost zone by policy %s: %s', (policy, want) => {
    const lost = { ...zoneRow('east'), status: { lost: { policy } } };
    expect(isSentDown(across, resource('east'), WEST, MeshView.of([meshRow], [lost, zoneRow('west')]))).toBe(want);
  });

  it("keeps other zones' resources of kinds that stop at the global", () => {
    const both = kindOf(Sync.bothWays);
    expect([resource('east'), resource('')].map((held) => isSentDown(both, held, WEST, VIEW))).toEqual([false, true]);
  });

  it('asks for no mesh where a kind has none', () => {
    expect(isSentDown(kindOf(Sync.fromGlobal, 'global'), resource('', { mesh: '' }), WEST, VIEW)).toBe(true);
  });
});

describe('isSentUp', () => {
  const cp = { role: 'zone', zone: 'west', federated: true } as const;
  const derived = resource('west', { labels: { 'causeway.io/derived-from': 'u' }, spec: { state: 'Available' } });
  it.each([
    ['its own', resource('west', { spec: { state: 'Unavailable' } }), true],
    ['its own service whose availability is not known yet', resource('west'), false],
    ['a copy', resource('east'), false],
    ["the global's", resource(''), false],
    ['marked as derived by the global', derived, false],
    ['kept out by label', resource('west', { labels: { 'kuma.io/kds-sync': 'disabled' } }), false],
  ])('%s', (_, held, want) => {
    expect(isSentUp(kindOf(Sync.acrossZones), held, WEST, cp)).toBe(want);
  });
});

describe('ownership of a stream', () => {
  const onGlobal = { role: 'global', from: 'west' } as const;
  const onZone = { role: 'zone', zone: 'west' } as const;
  it.each([
    ['a zone its own', 'acrossZones', 'west', onGlobal, undefined],
    ["a zone another's", 'acrossZones', 'east', onGlobal, 'it belongs to zone "east"'],
    ['a zone what it never sends', 'fromGlobal', '', onGlobal, 'a Thing of a zone is not known on the global'],
    ["the global another zone's", 'acrossZones', 'east', onZone, undefined],
    ['the global its own', 'bothWays', '', onZone, undefined],
    ["the global this zone's", 'acrossZones', 'west', onZone, 'it belongs to this zone, west'],
    ["the global another zone's of a kind that stops there", 'bothWays', 'east', onZone, 'it belongs to zone "east"'],
    ['the global what it never sends', 'toGlobal', 'east', onZone, 'a Thing is not known beyond its zone'],
  ] as const)('%s', (...row) => {
    const [, rule, zone, receiver, want] = row;
    expect(ownershipViolation(kindOf(Sync[rule]), resource(zone).id, receiver)).toBe(want);
  });

  it.each([
    ["a zone's copy on the global", resource('west'), onGlobal, true],
    ["another zone's copy on the global", resource('east'), onGlobal, false],
    ["the global's own", resource(''), onGlobal, false],
    ['a copy on a zone', resource('east'), onZone, true],
    ["the global's on a zone", resource(''), onZone, true],
    ["a zone's own", resource('west', { labels: { 'kuma.io/origin': 'zone' } }), onZone, false],
    ["a zone's own of a kind without zone", resource('', { labels: { 'kuma.io/origin': 'zone' } }), onZone, false],
  ] as const)('may remove %s: %s', (_, held, receiver, want) => {
    expect(isOwnedByStream(held, receiver)).toBe(want);
  });
});

describe('MeshView', () => {
  it('names what differs from an older one', () => {
    const next = MeshView.of(
      [],
      [zoneRow('east', { enabled: false }), zoneRow('west'), zoneRow('shut', { enabled: false }), zoneRow('new')],
    );
    expect(next.zonesChangedSince(VIEW).slice().sort()).toEqual(['east', 'new']);
    expect(next.meshesChangedSince(VIEW)).toEqual(['default']);
    expect(VIEW.zonesChangedSince(VIEW)).toEqual([]);
    const relabelled = MeshView.of([meshRow], [{ ...zoneRow('east'), labels: { region: 'eu' } }]);
    expect([VIEW.isRelabelledSince(VIEW), relabelled.isRelabelledSince(VIEW)]).toEqual([false, true]);
  });
});
