import { findCondition, globalIdentity, type ControlPlane, type JsonObject, type Resource } from '@causeway/resources';
import type { MeshMismatch } from '@causeway/meshes';
import type { Change } from '@causeway/store';
import { EAST, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { meshesOf } from '../../../../test/support/meshes';
import { createMeshLoops } from './mesh-reconciler';

const OURS = 'causeway.io/control-plane';
const THEIRS = 'x.io/y';
const DEFAULT = globalIdentity('Mesh', 'default');
const TEAM_B = globalIdentity('Mesh', 'team-b');
const CONFIG = { ...globalIdentity('ConfigMap', 'p'), namespace: 'n' };
const SETTINGS = globalIdentity('MeshParameters', 'p');
const settingsRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
const features = [{ name: 'MeshService' }, { name: 'VirtualIP' }];
const MESSAGE = 'Mesh resource accepted by Causeway v1.2.3 (global control plane "global", cluster store-1)';

/** A control plane of which replicas lead in turn. */
class Plane {
  readonly harness = new LoopHarness();
  readonly mismatches: MeshMismatch[] = [];
  readonly refusals: string[] = [];
  replica: Replica = this.harness.replica('a');

  constructor(readonly cp: ControlPlane = { role: 'global' }) {}

  async lead(replica: Replica = this.replica): Promise<this> {
    this.replica = replica;
    await replica.caughtUp();
    await replica.lead(
      createMeshLoops({
        cp: this.cp,
        meshes: meshesOf(replica.index),
        features,
        acceptor: { controlPlane: this.cp, version: '1.2.3', storeId: 'store-1' },
        onMismatch: (mismatch) => this.mismatches.push(mismatch),
        onRefused: (_name, reason) => this.refusals.push(reason),
      }),
    );
    await replica.settle();
    return this;
  }

  async write(...changes: readonly Change[]): Promise<void> {
    await this.harness.write(...changes);
    await this.replica.settle();
  }

  async mesh(name = 'default'): Promise<Resource> {
    const found = await this.harness.get(globalIdentity('Mesh', name));
    if (!found) throw new Error(`no Mesh ${name}`);
    return found;
  }

  async accepted(name = 'default'): Promise<JsonObject | undefined> {
    return findCondition((await this.mesh(name)).status, 'Accepted');
  }
}

let plane: Plane;
const open = (cp?: ControlPlane): Plane => (plane = new Plane(cp));
afterEach(() => plane.harness.stop());

/** All that a row is, byte by byte. */
const bytes = async (): Promise<string> => JSON.stringify(await plane.mesh());

describe('the expected Mesh', () => {
  it.each([
    ['the global', { role: 'global' }],
    ['a zone without a global', { ...EAST, federated: false }],
  ] as const)('T000-13 T000-15 T000-16 T000-17 is made by %s: its controllerName, nothing else', async (_, cp) => {
    await open(cp).lead();
    const { spec, generation } = await plane.mesh();
    expect([spec, generation]).toEqual([{ controllerName: OURS }, 1]);
    expect(await plane.accepted()).toMatchObject({ status: 'True', observedGeneration: 1 });
  });

  it('T000-42 is not made by a federated zone', async () => {
    await open(EAST).lead();
    expect(await plane.harness.get(DEFAULT)).toBeUndefined();
  });

  it('T000-15 two replicas on an empty store make one', async () => {
    open();
    const [a, b] = [plane.replica, plane.harness.replica('b')];
    await plane.lead(a);
    const { uid, revision } = await plane.mesh();
    await plane.lead(b);
    expect(await plane.mesh()).toMatchObject({ uid, revision });
  });

  it('T000-18 T000-23 stays byte by byte as a user made it, whoever leads; its status tells', async () => {
    const spec = { controllerName: OURS, description: 'of the shop', parametersRef: settingsRef };
    await open().harness.write(put(DEFAULT, spec, { team: 'db' }));
    const before = await plane.mesh();
    for (const name of ['a', 'b', 'c']) {
      await plane.lead(plane.harness.replica(name));
      const { spec: after, labels, generation } = await plane.mesh();
      expect([JSON.stringify(after), labels, generation]).toEqual([JSON.stringify(spec), before.labels, 1]);
    }
  });

  it('T000-24 deleted, it is made again when a term begins and not before', async () => {
    await open().lead();
    await plane.write(remove(DEFAULT));
    await plane.write(put(TEAM_B, { controllerName: OURS }));
    expect(await plane.harness.get(DEFAULT)).toBeUndefined();
    await plane.lead();
    expect((await plane.mesh()).spec).toEqual({ controllerName: OURS });
  });

  it('T000-20 of somebody else is left alone to the byte over 100 terms; each warns once', async () => {
    await open().harness.write(put(DEFAULT, { controllerName: THEIRS, parametersRef: settingsRef }));
    const before = await bytes();
    const [a, b] = [plane.replica, plane.harness.replica('b')];
    for (let term = 0; term < 100; term++) await plane.lead(term % 2 === 0 ? a : b);
    expect(await bytes()).toBe(before);
    expect(plane.mismatches).toEqual(Array(100).fill({ name: 'default', controllerName: THEIRS, ownName: OURS }));
    expect(meshesOf(b.index).isServed('default')).toBe(true);
  });

  it('T000-20 T000-24 the mismatch goes with the Mesh, without a new term; the next one is reported again', async () => {
    const foreign = put(DEFAULT, { controllerName: THEIRS });
    await open().harness.write(foreign);
    await plane.lead();
    await plane.write(remove(DEFAULT));
    expect(meshesOf(plane.replica.index).mismatch()).toBeUndefined();
    expect(plane.mismatches).toHaveLength(1);
    await plane.write(foreign);
    expect(plane.mismatches).toHaveLength(2);
    await plane.write(remove(DEFAULT));
    await plane.write(put(DEFAULT, { controllerName: OURS }));
    expect(await plane.accepted()).toMatchObject({ status: 'True', message: MESSAGE });
  });
});

describe('the status of Meshes', () => {
  it('T000-09 T000-10 T000-12 says which control plane accepted it and what it supports, in one write', async () => {
    await open().lead();
    const { status, revision } = await plane.mesh();
    const since = new Date(plane.harness.clock.now()).toISOString();
    const about = { type: 'Accepted', status: 'True', reason: 'Accepted', message: MESSAGE, observedGeneration: 1 };
    expect(status).toEqual({
      conditions: [{ ...about, lastTransitionTime: since }],
      supportedFeatures: features,
      access: { mtls: 'Strict', defaultAccess: 'Allow' },
    });
    expect(revision).toBe(2);
  });

  it('T000-10 does not move when another replica leads', async () => {
    await open().lead();
    const before = await bytes();
    plane.harness.clock.advance(60_000);
    await plane.lead(plane.harness.replica('b'));
    expect(await bytes()).toBe(before);
  });

  it('T000-38 is written on every Mesh of ours, and T000-07 on no other', async () => {
    await open().lead();
    await plane.write(
      put(TEAM_B, { controllerName: OURS }),
      put(globalIdentity('Mesh', 'x'), { controllerName: THEIRS }),
    );
    await plane.write(put(globalIdentity('Mesh', 'kuma'), {}));
    for (const name of ['default', 'team-b', 'kuma'])
      expect(await plane.accepted(name)).toMatchObject({ status: 'True' });
    expect((await plane.mesh('x')).status).toBeUndefined();
  });

  it('a federated zone writes its own on the copy of the Mesh', async () => {
    await open(EAST).lead();
    await plane.write(put(DEFAULT, { controllerName: OURS }));
    expect((await plane.accepted())?.['message']).toContain('zone control plane "east"');
  });

  it('T000-24 T000-32 T000-35 follows the referent: missing, there, gone; the features go with the acceptance', async () => {
    await open().lead();
    await plane.write(put(DEFAULT, { controllerName: OURS, parametersRef: settingsRef }));
    expect(await plane.accepted()).toMatchObject({
      status: 'False',
      reason: 'InvalidParameters',
      observedGeneration: 2,
    });
    expect((await plane.accepted())?.['message']).toContain(
      'MeshParameters "p" of group "causeway.io", which does not exist',
    );
    expect((await plane.mesh()).status).not.toHaveProperty('supportedFeatures');
    await plane.write(put(SETTINGS, { exportDefault: 'None' }));
    expect(await plane.accepted()).toMatchObject({ status: 'True', reason: 'Accepted' });
    expect((await plane.mesh()).status?.['supportedFeatures']).toEqual(features);
    await plane.write(remove(SETTINGS));
    expect(await plane.accepted()).toMatchObject({ status: 'False', reason: 'InvalidParameters' });
    expect((await plane.mesh()).generation).toBe(2);
  });

  it.each([
    ['T000-30', { kind: 'ConfigMap', name: 'p' }],
    ['T000-31', { ...settingsRef, namespace: 'n' }],
    ['T000-32', settingsRef],
    ['T000-33', { kind: 'Secret', name: 'p', namespace: 'n' }],
    ['T000-34', { kind: 'ConfigMap', name: 'p', namespace: 'n' }],
  ])('%s T000-11 T000-29 %j is refused with a reason and a message', async (_, parametersRef) => {
    await open().harness.write(put(CONFIG, { data: { 'parameters.yaml': 'vipRanges: {MeshService: banana}' } }));
    await plane.harness.write(put(DEFAULT, { controllerName: OURS, parametersRef }));
    await plane.lead();
    const refused = await plane.accepted();
    expect(refused).toMatchObject({ status: 'False', reason: 'InvalidParameters' });
    expect(refused?.['message']).toMatch(/\w/);
  });

  it('T000-34 is mended with the ConfigMap', async () => {
    await open().harness.write(put(CONFIG, { data: { 'parameters.yaml': 'vipRanges: {MeshService: banana}' } }));
    await plane.lead();
    await plane.write(
      put(DEFAULT, { controllerName: OURS, parametersRef: { kind: 'ConfigMap', name: 'p', namespace: 'n' } }),
    );
    expect(await plane.accepted()).toMatchObject({ status: 'False' });
    await plane.write(put(CONFIG, { data: { 'parameters.yaml': 'exportDefault: None' } }));
    expect(await plane.accepted()).toMatchObject({ status: 'True' });
  });

  it('a Mesh that frees a range heals the other one', async () => {
    await open().lead();
    for (const name of ['a', 'b']) {
      const ref = { ...settingsRef, name };
      await plane.write(
        put(globalIdentity('MeshParameters', name), { vipRanges: { MeshService: '245.0.0.0/16' } }),
        put(globalIdentity('Mesh', name), { controllerName: OURS, parametersRef: ref }),
      );
    }
    expect([await plane.accepted('a'), await plane.accepted('b')]).toMatchObject([
      { status: 'True' },
      { status: 'False' },
    ]);
    await plane.write(remove(globalIdentity('Mesh', 'a')));
    expect(await plane.accepted('b')).toMatchObject({ status: 'True' });
  });
});

describe('who may call', () => {
  const trust = (name: string, trustDomain: string, zone: string): Change =>
    put({ kind: 'MeshTrust', mesh: 'default', zone, namespace: '', name }, { trustDomain, caBundles: [] });
  const access = async (): Promise<unknown> => (await plane.mesh()).status?.['access'];

  it('is in the status of the Mesh, as its settings say, on the global without trust', async () => {
    await open().lead();
    expect(await access()).toEqual({ mtls: 'Strict', defaultAccess: 'Allow' });
    await plane.write(
      put(SETTINGS, { mtls: 'Permissive', defaultAccess: 'Deny' }),
      put(DEFAULT, { parametersRef: settingsRef }),
    );
    expect(await access()).toEqual({ mtls: 'Permissive', defaultAccess: 'Deny' });
    await plane.write(remove(SETTINGS));
    expect(await access()).toEqual({ mtls: 'Permissive', defaultAccess: 'Deny' });
  });

  it('follows, in a zone, the trust of the zone and of the global; a loss is counted by whoever leads', async () => {
    await open({ ...EAST, federated: false }).lead();
    await plane.write(trust('own', 'a', 'east'), trust('west', 'b', ''), trust('other', 'c', 'north'));
    const believed = { mtls: 'Strict', defaultAccess: 'Allow', trustDomains: ['a', 'b'], narrowed: 0 };
    expect(await access()).toEqual(believed);
    const { revision } = plane.harness;
    await plane.lead(plane.harness.replica('b'));
    expect(plane.harness.revision).toBe(revision);
    await plane.write(remove({ kind: 'MeshTrust', mesh: 'default', zone: '', namespace: '', name: 'west' }));
    expect(await access()).toEqual({ ...believed, trustDomains: ['a'], narrowed: 1 });
  });
});
