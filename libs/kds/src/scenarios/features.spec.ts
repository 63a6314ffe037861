import { isJsonArray } from '@causeway/resources';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { untilSoon } from '../../../../test/support/until';
import { Extension } from '../wire/dialect';
import { CHUNK_BYTES } from '../wire/kds-service';

const SPEC = { ports: [{ port: 6379, targetPort: 6379, appProtocol: 'tcp' }], state: 'Available' };
const ALL = Object.values(Extension);
const without = (...names: string[]): readonly string[] => ALL.filter((name) => !names.includes(name));

/** Features of the global and the zones west and east; east always has all. */
const PEERS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['all on both sides', ALL, ALL],
  ['none on the zone', ALL, []],
  ['none on the global', [], ALL],
  ['no cw-json', without(Extension.json), ALL],
  ['no cw-meta', ALL, without(Extension.meta)],
  ['no cw-chunk', without(Extension.chunk), ALL],
  ['no cw-resume', ALL, without(Extension.resume)],
  ['no cw-result', ALL, without(Extension.result)],
  ['no cw-order', without(Extension.order), ALL],
];

const countPieces = (zone: TestZone): number =>
  zone.names('MeshService').filter((name) => name.includes('piece-')).length;

describe.each(PEERS)('peers with %s', (_, ofGlobal, ofWest) => {
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeAll(async () => {
    global = new TestGlobal({ features: ofGlobal });
    east = new TestZone('east');
    west = new TestZone('west', { features: ofWest });
    await global.put('Mesh', 'default', {});
    await global.serve();
    await Promise.all([east.join(global), west.join(global)]);
    await Promise.all([east, west].map((zone) => zone.holds(global.id('Mesh', 'default'))));
  });

  afterAll(async () => {
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  it('give each other what they have, change it and take it back, also after a reconnect', async () => {
    const labels = { team: 'db' };
    await east.put('MeshService', 'a', SPEC, labels);
    await west.put('MeshService', 'b', SPEC, labels);
    const [a, b] = [east.id('MeshService', 'a'), west.id('MeshService', 'b')];
    expect((await west.holds(a)).labels).toMatchObject({
      ...labels,
      'kuma.io/zone': 'east',
      'kuma.io/origin': 'global',
    });
    expect((await east.holds(b)).spec).toEqual(SPEC);
    await east.put('MeshService', 'a', { ...SPEC, state: 'Unavailable' });
    const changed = await west.holds(a, (held) => held.spec['state'] === 'Unavailable');
    expect(changed.createdAt).toBeGreaterThan(0);
    await west.leave();
    await global.left('west');
    await east.delete('MeshService', 'a');
    await west.delete('MeshService', 'b');
    await global.lacks(a);
    await west.join(global);
    await Promise.all([west.lacks(a), east.lacks(b)]);
  });

  it('say which resource was refused and take in the others', async () => {
    // Too long to be distinguished on the wire (docs/design.md §5 Strict at the door, tolerant on the wire).
    const bad = { ...west.id('MeshService', 'x'), name: 'x'.repeat(254) };
    await west.write([
      {
        type: 'put',
        id: bad,
        expect: 'any',
        labels: { 'kuma.io/origin': 'zone', 'kuma.io/display-name': bad.name },
        spec: SPEC,
      },
    ]);
    await west.put('MeshService', 'good', SPEC);
    await east.holds(west.id('MeshService', 'good'));
    const report = await global.report('west', 'MeshService', 'up');
    expect(report.rejections).toHaveLength(1);
    const sent = (): string | undefined =>
      west.sync?.status().kinds.find(({ kind, direction }) => kind === 'MeshService' && direction === 'up')
        ?.rejections[0]?.reason;
    await untilSoon(() => sent() !== undefined);
    expect(sent()).toContain('at most 253 characters');
    const insight = await global.sync?.findInsight(await global.holds(global.id('Zone', 'west')));
    expect(insight).toMatchObject({ health: 'Rejecting' });
    expect(isJsonArray(insight?.['kinds'])).toBe(true);
  });

  it('bring a large state whole, in pieces where both can', async () => {
    // Of few resources, but of more bytes than one piece has.
    const count = 250;
    const padding = Object.fromEntries(Array.from({ length: 24 }, (__, i) => [`padding-${i}`, 'x'.repeat(60)]));
    expect(count * JSON.stringify(padding).length).toBeGreaterThan(1.5 * CHUNK_BYTES);
    await east.write(
      Array.from({ length: count }, (__, i) => ({
        type: 'put' as const,
        id: east.id('MeshService', `piece-${i}`),
        expect: 'any' as const,
        labels: {
          'kuma.io/origin': 'zone',
          'kuma.io/zone': 'east',
          'kuma.io/display-name': `piece-${i}`,
          'kuma.io/mesh': 'default',
          ...padding,
        },
        spec: SPEC,
      })),
    );
    await west.until(() => countPieces(west) === count);
    await west.leave();
    await global.left('west');
    await west.write(
      [...west.index.ofKind('MeshService')]
        .filter(({ id }) => id.zone === 'east')
        .slice(0, 10)
        .map(({ id }) => ({ type: 'delete', id, expect: 'any' })),
    );
    await west.join(global);
    if (ofGlobal.includes(Extension.resume) && ofWest.includes(Extension.resume)) return;
    await west.until(() => countPieces(west) === count);
  });
});
