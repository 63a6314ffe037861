import { readPresetPath } from '@causeway/identity';
import { identityPathState } from '@causeway/identity/testing';
import { globalIdentity, type JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { EAST, idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { createZoneReconcilers } from '../zone-reconcilers';
import { createIdentityPathLoop } from './identity-path-reconciler';

const [MINUTE, HOUR] = [60_000, 3_600_000];
const MESH = globalIdentity('Mesh', 'default');
const PATH = { ...globalIdentity('IdentityPath', 'default'), mesh: 'default' };
const HERE = { mesh: 'default', zone: 'east' };
const ID = 'spiffe://default.east.mesh.local';

const identity = (spec: JsonObject = {}): Change =>
  put(idOf('MeshIdentity', 'all', { zone: '' }), {
    selector: { dataplane: { matchLabels: {} } },
    provider: { type: 'Bundled' },
    ...spec,
  });
const dataplane = (name: string, namespace: string, workload = name): Change =>
  put(
    idOf('Dataplane', name, { namespace }),
    { networking: { address: '10.0.0.1', inbound: [{ port: 80, tags: { 'kuma.io/service': workload } }] } },
    { 'kuma.io/workload': workload },
  );
const on = put(PATH, { preset: 'Namespaced' });

describe('the form of the SPIFFE ids of a mesh', () => {
  let harness: LoopHarness;
  let replica: Replica;
  let areReady: boolean | undefined;
  let isCut: boolean;

  beforeEach(() => {
    harness = new LoopHarness();
    [areReady, isCut] = [true, false];
  });
  afterEach(() => harness.stop());

  const lead = async (name: string): Promise<void> => {
    replica = harness.replica(name);
    await replica.caughtUp();
    const replicas = {
      get areReady() {
        return areReady;
      },
    };
    await replica.lead([
      ...createZoneReconcilers({ cp: EAST, ranges: {} }),
      createIdentityPathLoop({
        cp: EAST,
        zone: 'east',
        replicas,
        validity: 24 * HOUR,
        skew: 10 * MINUTE,
        isCutOff: () => isCut,
      }),
    ]);
    await replica.settle();
  };
  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const pass = async (ms: number): Promise<void> => {
    harness.clock.advance(ms);
    await replica.settle();
  };
  const state = () => identityPathState(replica.index, HERE);
  /** Returns the ids of the service `redis` of a namespace, without their prefix. */
  const idsOf = (namespace: string): readonly string[] => {
    const { identities } = replica.index.get(idOf('MeshService', 'redis', { namespace }))?.spec ?? {};
    const text = JSON.stringify(identities ?? []);
    return [...text.matchAll(/spiffe:\/\/default\.east\.mesh\.local([^"]*)/g)].map(([, path = '']) => path);
  };

  it('stays in a mesh without an IdentityPath, and in namespace default in any', async () => {
    await harness.write(put(MESH, {}), identity(), dataplane('redis', 'shop'), dataplane('redis', 'default'));
    await lead('a');
    expect(idsOf('shop')).toEqual(['/workload/redis']);
    await apply(on);
    await pass(11 * MINUTE);
    await pass(25 * HOUR);
    await pass(10_000);
    expect(state()).toEqual({ signs: 'Namespaced' });
    expect(idsOf('default')).toEqual(['/workload/redis']);
    expect(idsOf('shop')).toEqual(['/ns/shop/workload/redis']);
  });

  it('changes in steps that the store keeps: both ids, certificates of the new one, and the new one alone', async () => {
    await harness.write(put(MESH, {}), identity(), dataplane('redis', 'shop'));
    await lead('a');
    await apply(on);
    const both = ['/ns/shop/workload/redis', '/workload/redis'];
    expect(idsOf('shop')).toEqual(both);
    expect(readPresetPath(replica.index, HERE).signs).toBe('Workload');
    const until = harness.clock.now() + 10 * MINUTE;
    expect(state()).toEqual({ signs: 'Workload', step: 'Announcing', until, namespaces: ['shop'] });
    await pass(10 * MINUTE - 1);
    expect(readPresetPath(replica.index, HERE).signs).toBe('Workload');
    await lead('b');
    await pass(1);
    expect(readPresetPath(replica.index, HERE).signs).toBe('Namespaced');
    expect(idsOf('shop')).toEqual(both);
    await pass(24 * HOUR + 10 * MINUTE - 1);
    expect(idsOf('shop')).toEqual(both);
    await lead('c');
    await pass(1);
    expect(idsOf('shop')).toEqual(['/ns/shop/workload/redis']);
    const { revision } = harness;
    await lead('d');
    await pass(HOUR);
    expect(harness.revision).toBe(revision);
  });

  it('is that of the IdentityPath at once where no id depends on it', async () => {
    await harness.write(put(MESH, {}), identity(), on, dataplane('redis', 'default'));
    await lead('a');
    expect(state()).toEqual({ signs: 'Namespaced' });
    await apply(dataplane('redis', 'shop'));
    expect(idsOf('shop')).toEqual(['/ns/shop/workload/redis']);
  });

  it('never changes under a path of its own', async () => {
    await harness.write(put(MESH, {}), identity({ spiffeID: { path: '/workload/{{ .Workload }}' } }), on);
    await harness.write(dataplane('redis', 'shop'));
    await lead('a');
    await pass(HOUR);
    expect(idsOf('shop')).toEqual(['/workload/redis']);
  });

  it('waits for older replicas, and for zones that cannot learn of it', async () => {
    areReady = undefined;
    await harness.write(put(MESH, {}), identity(), on, dataplane('redis', 'shop'));
    await lead('a');
    expect(state()).toBeUndefined();
    areReady = false;
    await pass(HOUR);
    expect(state()).toBeUndefined();
    [areReady, isCut] = [true, true];
    await pass(HOUR);
    await pass(HOUR);
    expect(state()?.step).toBe('Announcing');
    isCut = false;
    await apply(put(globalIdentity('Zone', 'west'), {}));
    await pass(10_000);
    expect(state()?.step).toBe('Retiring');
    areReady = false;
    await pass(23 * HOUR);
    await pass(23 * HOUR);
    await pass(23 * HOUR);
    expect(idsOf('shop')).toHaveLength(2);
  });

  it('changes back where the IdentityPath is taken away, for as long', async () => {
    await harness.write(put(MESH, {}), identity(), on, dataplane('redis', 'shop'));
    await lead('a');
    await pass(11 * MINUTE);
    await pass(12 * HOUR);
    await apply(remove(PATH));
    expect(readPresetPath(replica.index, HERE).signs).toBe('Workload');
    await pass(24 * HOUR);
    expect(idsOf('shop')).toHaveLength(2);
    await pass(HOUR);
    expect(idsOf('shop')).toEqual(['/workload/redis']);
    expect(state()).toBeUndefined();
  });

  it('says which ids workloads of several namespaces share, and goes with its Mesh', async () => {
    await harness.write(put(MESH, {}), identity(), dataplane('redis', 'shop'), dataplane('redis', 'dev'));
    await harness.write(dataplane('web-1', 'shop', 'web'), dataplane('web-2', 'shop', 'web'));
    await lead('a');
    expect(state()).toEqual({
      signs: 'Workload',
      shared: [{ id: `${ID}/workload/redis`, namespaces: ['dev', 'shop'] }],
    });
    await apply(dataplane('redis', 'ops'));
    expect(state()?.shared?.[0]?.namespaces).toHaveLength(2);
    await pass(10_000);
    expect(state()?.shared?.[0]?.namespaces).toEqual(['dev', 'ops', 'shop']);
    await apply(remove(idOf('Dataplane', 'redis', { namespace: 'ops' })));
    await apply(remove(idOf('Dataplane', 'redis', { namespace: 'dev' })));
    await pass(10_000);
    expect(state()).toBeUndefined();
    await apply(on);
    expect(state()).toBeDefined();
    await apply(remove(MESH));
    expect(state()).toBeUndefined();
  });
});
