import { globalIdentity, type Identity, type JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { KumaZone } from '../../../../test/support/kuma-zone';
import { joinedMesh, type JoinedMesh, type TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { Extension } from '../wire/dialect';

const KIND = 'PaintPolicy';
const DEFINITION: JsonObject = {
  group: 'a.io',
  kind: KIND,
  plural: 'paintpolicies',
  hierarchy: 'mesh',
  declaredTargets: [{ kind: 'Namespace', semantics: 'paints its services' }],
  effectiveTarget: { level: 'Rule', semantics: 'is painted' },
  schema: { type: 'object', properties: { colour: { type: 'string' } } },
};
const RED = { targetRefs: [{ group: '', kind: 'Namespace', name: 'default' }], colour: 'red' };
const RED_SCHEMA = { type: 'object', properties: { colour: { type: 'string' } } };
const GATEWAY = { gatewayClassName: 'edge', listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] };
const MRD = globalIdentity('MetaresourceDefinition', 'paint');
const paint = (name: string, zone = ''): Identity => {
  return { kind: KIND, mesh: 'default', zone, namespace: 'default', name };
};
const define: Change = {
  type: 'put',
  id: MRD,
  expect: 'any',
  labels: { 'kuma.io/origin': 'global' },
  spec: DEFINITION,
};
const made = (name: string): Change => {
  const labels = { 'kuma.io/origin': 'global', 'kuma.io/display-name': name, 'kuma.io/mesh': 'default' };
  return { type: 'put', id: paint(name), expect: 'any', labels, spec: RED };
};
const gone = (id: Identity): Change => ({ type: 'delete', id, expect: 'any' });

describe('resources of a kind that is declared while zones are connected', () => {
  let mesh: JoinedMesh;
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    mesh = await joinedMesh();
    ({ global, east, west } = mesh);
  });
  afterEach(() => mesh.close());

  const sessions = (): unknown[] => [east, west].map((zone) => zone.sync?.status().session);

  it('travel on the open streams: the global’s to every zone, a zone’s own to the global', async () => {
    const before = sessions();
    await global.write([define]);
    await global.put(KIND, 'of-all', RED);
    await Promise.all([east, west].map((zone) => zone.holds(paint('of-all'))));
    await east.put(KIND, 'own', RED);
    expect((await global.holds(paint('own', 'east'))).spec).toEqual(RED);
    expect(west.names(KIND)).toEqual(['of-all']);
    await global.put(KIND, 'of-all', { ...RED, colour: 'blue' });
    await west.holds(paint('of-all'), ({ spec }) => spec['colour'] === 'blue');
    await east.delete(KIND, 'own');
    await global.lacks(paint('own', 'east'));
    expect(sessions()).toEqual(before);
  });

  it('arrive where they are written with their definition, and go where they are deleted with it', async () => {
    const before = sessions();
    await global.write([define, made('a'), made('b')]);
    await Promise.all([east, west].map((zone) => zone.holds(paint('b'))));
    await global.write([gone(paint('a')), gone(paint('b')), gone(MRD)]);
    for (const zone of [east, west]) {
      await Promise.all([zone.lacks(paint('a')), zone.lacks(paint('b')), zone.lacks(MRD)]);
      expect(zone.kinds.kind(KIND)).toBeUndefined();
    }
    await global.write([define, made('c')]);
    await Promise.all([east, west].map((zone) => zone.holds(paint('c'))));
    expect(sessions()).toEqual(before);
  });

  it('made in a zone while their definition goes are kept, and known again when it comes back', async () => {
    await global.write([define]);
    await Promise.all([east.holds(MRD), west.holds(MRD)]);
    await east.put(KIND, 'first', RED);
    await global.holds(paint('first', 'east'));
    const late = east.put(KIND, 'late', RED);
    await Promise.all([late, global.write([gone(MRD)])]);
    expect((await global.holds(paint('late', 'east'))).spec).toEqual(RED);
    await east.lacks(MRD);
    await global.write([define]);
    await east.holds(MRD);
    await east.put(KIND, 'late', { ...RED, colour: 'blue' });
    await global.holds(paint('late', 'east'), ({ spec }) => spec['colour'] === 'blue');
  });

  it('reach a zone that was away meanwhile, and what it made before it was away', async () => {
    await global.write([define]);
    await east.holds(MRD);
    await east.put(KIND, 'own', RED);
    await global.holds(paint('own', 'east'));
    await east.leave();
    await global.write([made('new')]);
    await global.put('MetaresourceDefinition', 'paint', {
      ...DEFINITION,
      schema: { type: 'object', properties: { shade: { type: 'integer' } } },
    });
    await global.put(KIND, 'newer', { targetRefs: RED.targetRefs, shade: 3 });
    await east.join(global);
    await Promise.all([east.holds(paint('new')), east.holds(paint('newer'))]);
    expect(global.names(KIND)).toEqual(['east/own', 'new', 'newer']);
  });

  it('are not asked of a zone that does not know such kinds, which goes on as it is', async () => {
    await west.close();
    west = new TestZone('west', { features: Object.values(Extension).filter((one) => one !== Extension.kinds) });
    await west.join(global);
    await global.write([define, made('a')]);
    await east.holds(paint('a'));
    await west.holds(MRD);
    const session = west.sync?.status().session;
    await global.put('Namespace', 'later', {});
    await west.holds(globalIdentity('Namespace', 'later'));
    expect([west.names(KIND), west.sync?.status().session]).toEqual([[], session]);
  });

  it('of a second kind of one name travel as others, and to no zone that does not know kinds by their group', async () => {
    const [second, other] = ['ColorPolicy.a.io', 'ColorPolicy'];
    const color = { ...DEFINITION, kind: other, plural: 'colorpolicies', schema: RED_SCHEMA };
    const idOf = (name: string, zone = ''): Identity => ({ ...paint(name, zone), kind: second });
    await west.close();
    west = new TestZone('west', { features: Object.values(Extension).filter((one) => one !== Extension.groups) });
    await west.join(global);
    await global.write([{ ...define, spec: color }]);
    await Promise.all([east.holds(MRD), west.holds(MRD)]);
    await global.put(second, 'of-all', RED);
    expect((await east.holds(idOf('of-all'))).spec).toEqual(RED);
    await east.put(second, 'own', RED);
    await global.holds(idOf('own', 'east'));
    await west.put(second, 'kept', RED);
    await global.put('Namespace', 'later', {});
    await west.holds(globalIdentity('Namespace', 'later'));
    await west.put('Gateway', 'later', GATEWAY);
    await global.holds({ ...paint('later', 'west'), kind: 'Gateway' });
    expect([west.names(second), global.names(second)]).toEqual([['west/kept'], ['east/own', 'of-all']]);
    expect([east.names(other), west.names(other), global.names(other)]).toEqual([[], [], []]);
    // It gets them as soon as it knows them.
    await west.close();
    west = new TestZone('west');
    await west.join(global);
    await west.holds(idOf('of-all'));
  });

  it('and their definitions are sent to no zone of Kuma', async () => {
    const kz = new KumaZone('kz');
    await global.write([define, made('a')]);
    kz.ask(global, ['Mesh', 'MetaresourceDefinition', KIND]);
    expect((await kz.firstResources('Mesh')).length).toBe(1);
    expect(await kz.firstResources('MetaresourceDefinition')).toEqual([]);
    expect(await kz.firstResources(KIND)).toEqual([]);
    kz.leave();
  });
});
