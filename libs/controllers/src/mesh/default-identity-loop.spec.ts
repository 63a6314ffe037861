import { globalIdentity, type ControlPlane, type JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { EAST, idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { meshesOf } from '../../../../test/support/meshes';
import { DefaultIdentityLoop } from './default-identity-loop';

const GLOBAL = { role: 'global' } as const;
const STANDALONE = { ...EAST, federated: false } as const;
const SHOP = globalIdentity('Mesh', 'shop');
const BANK = globalIdentity('Mesh', 'bank');

let harness: LoopHarness;
let replica: Replica;
beforeEach(() => {
  harness = new LoopHarness();
  replica = harness.replica('a');
});
afterEach(() => harness.stop());

const lead = async (cp: ControlPlane = GLOBAL, by: Replica = replica): Promise<void> => {
  replica = by;
  await replica.caughtUp();
  await replica.lead([new DefaultIdentityLoop({ cp, meshes: meshesOf(replica.index) })]);
  await replica.settle();
};
const write = async (...changes: Change[]): Promise<void> => {
  await harness.write(...changes);
  await replica.settle();
};
const mesh = (id: typeof SHOP, spec: JsonObject = {}) => put(id, spec);
const identityId = (of: string, name = 'default', zone = '') => ({
  ...globalIdentity('MeshIdentity', name),
  mesh: of,
  zone,
});
const identities = async (): Promise<readonly string[]> => {
  const rows = await harness.rows();
  const found = rows.filter(({ id }) => id.kind === 'MeshIdentity');
  return found.map(({ id }) => [id.zone, id.mesh, id.name].filter((part) => part !== '').join(' ')).sort();
};

describe('the default MeshIdentity', () => {
  it.each([
    ['the global', GLOBAL, ['bank default', 'shop default']],
    ['a zone without a global', STANDALONE, ['east bank default', 'east shop default']],
    ['a federated zone makes none', EAST, []],
  ] as const)('comes with each Mesh, whenever it is made: %s', async (_, cp, wanted) => {
    await harness.write(mesh(SHOP));
    await lead(cp);
    await write(mesh(BANK));
    expect(await identities()).toEqual(wanted);
  });

  it('selects every Dataplane, by an authority of each zone', async () => {
    await harness.write(mesh(SHOP));
    await lead();
    const { spec, labels } = (await harness.get(identityId('shop'))) ?? {};
    expect(spec).toEqual({
      selector: { dataplane: { matchLabels: {} } },
      provider: { type: 'Bundled', bundled: { autogenerate: { enabled: true }, insecureAllowSelfSigned: true } },
    });
    expect(labels).toMatchObject({ 'causeway.io/made-with': 'Mesh', 'kuma.io/origin': 'global' });
  });

  it('comes with an IdentityPath, where nothing of the mesh has an id yet', async () => {
    const one = { networking: { address: '10.0.0.1', inbound: [] } };
    await harness.write(mesh(SHOP), mesh(BANK), put(idOf('Dataplane', 'a', { mesh: 'bank' }), one));
    await lead();
    const path = (of: string) => harness.get({ ...globalIdentity('IdentityPath', 'default'), mesh: of });
    expect(await path('shop')).toMatchObject({
      spec: { preset: 'Namespaced' },
      labels: { 'causeway.io/made-with': 'Mesh' },
    });
    expect(await path('bank')).toBeUndefined();
    await write(remove({ ...globalIdentity('IdentityPath', 'default'), mesh: 'shop' }));
    await lead(GLOBAL, harness.replica('b'));
    expect(await path('shop')).toBeUndefined();
    await write(remove(SHOP));
    await write(mesh(SHOP));
    expect(await path('shop')).toBeDefined();
    await write(remove(SHOP));
    expect(await path('shop')).toBeUndefined();
  });

  it('stays deleted and stays changed, over terms; a new Mesh of the same name gets a new one', async () => {
    await harness.write(mesh(SHOP), mesh(BANK));
    await lead();
    await write(remove(identityId('shop')), put(identityId('bank'), { provider: { type: 'Spire' } }));
    await lead(GLOBAL, harness.replica('b'));
    expect(await identities()).toEqual(['bank default']);
    expect((await harness.get(identityId('bank')))?.spec).toEqual({ provider: { type: 'Spire' } });
    await write(remove(SHOP));
    await write(mesh(SHOP));
    expect(await identities()).toEqual(['bank default', 'shop default']);
  });

  it('goes after its Mesh, and stays where a user took it over', async () => {
    await harness.write(mesh(SHOP), mesh(BANK));
    await lead();
    await write(put(identityId('bank'), { provider: { type: 'Bundled' } }));
    await write(remove(SHOP), remove(BANK));
    expect(await identities()).toEqual(['bank default']);
  });

  it('is not made where the Mesh has one, is ending or is somebody else’s', async () => {
    await harness.write(
      mesh(SHOP),
      put(identityId('shop', 'mine'), { provider: { type: 'Spire' } }),
      put(BANK, {}, { 'causeway.io/terminating': 'true' }),
      mesh(globalIdentity('Mesh', 'theirs'), { controllerName: 'x.io/y' }),
    );
    await lead();
    expect(await identities()).toEqual(['shop mine']);
    await write(remove(identityId('shop', 'mine')));
    await lead(GLOBAL, harness.replica('b'));
    expect(await identities()).toEqual([]);
  });

  it('writes nothing where nothing changes, and once for two leaders in turn', async () => {
    await harness.write(mesh(SHOP));
    await lead();
    const { revision } = harness;
    await lead(GLOBAL, harness.replica('b'));
    await lead(GLOBAL, harness.replica('c'));
    expect(harness.revision).toBe(revision);
  });

  it('comes to more Meshes than one plan makes', async () => {
    const many = Array.from({ length: 1_201 }, (_, i) => mesh(globalIdentity('Mesh', `m${i}`)));
    await harness.write(...many);
    await lead();
    expect(await identities()).toHaveLength(1_201);
  });
});
