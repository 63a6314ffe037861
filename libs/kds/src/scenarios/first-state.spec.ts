import { AccessPolicy, shippedDefinition, shippedDefinitionName } from '@causeway/policies';
import { silentLogger, systemClock } from '@causeway/runtime';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';
import { FirstState, reportFirstState, type FirstStateReport } from '../zone/first-state';

describe('the first state of a zone', () => {
  let global: TestGlobal;
  let west: TestZone;
  const gates: FirstState[] = [];
  const gateOf = (zone: TestZone, federated = true): FirstState => {
    const gate = new FirstState({
      store: zone.store,
      index: zone.index,
      clock: systemClock,
      logger: silentLogger,
      federated,
    });
    gates.push(gate);
    void gate.run();
    return gate;
  };

  beforeEach(async () => {
    global = new TestGlobal();
    west = new TestZone('west');
    await global.put('MeshParameters', 'strict', { defaultAccess: 'Deny' });
    await global.put('MetaresourceDefinition', shippedDefinitionName(AccessPolicy), shippedDefinition(AccessPolicy));
    await global.put('AccessPolicy', 'nobody', { targetRefs: [{ kind: 'Mesh', name: 'default' }], allow: {} });
    await global.put('Mesh', 'default', {
      parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name: 'strict' },
    });
    await global.serve();
  });
  afterEach(async () => {
    for (const gate of gates.splice(0)) gate.close();
    await west.close();
    await global.close();
  });

  it('is complete once it was stored, on every replica, over restarts, and without the global', async () => {
    const gate = gateOf(west);
    expect(gate.isReady()).toBe(false);
    const held: unknown[] = [];
    gate.onReady(() => held.push(west.names('MeshParameters'), west.names('Mesh'), west.names('AccessPolicy')));
    await west.join(global);
    await until('the first state', () => gate.isReady());
    expect(held).toEqual([west.names('MeshParameters'), west.names('Mesh'), west.names('AccessPolicy')]);
    expect(held.map((names) => (names as readonly string[]).length)).toEqual([1, 1, 1]);
    await west.leave();
    await global.cut();
    const restarted = gateOf(west);
    expect(restarted.isReady()).toBe(false);
    await until('the note', () => restarted.isReady());
  });

  it('of a zone by itself is complete from the start', () => {
    expect(gateOf(west, false).isReady()).toBe(true);
  });
});

describe('what is noted of a session', () => {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const fence = { epoch: 3, holder: 'me' };
  function session(given: Partial<FirstStateReport> = {}, failures = 0) {
    const written: unknown[] = [];
    const write: FirstStateReport['store']['write'] = (request) => {
      if (failures-- > 0) return Promise.reject(new Error('no database'));
      written.push(request);
      return Promise.resolve({ revision: 1, results: [] });
    };
    const readMetadata = (): Promise<undefined> => Promise.resolve(undefined);
    const parts = {
      store: { write, readMetadata },
      fence,
      onStoreFailure: () => undefined,
      causeway: true,
      declares: false,
      hadWhole: () => false,
      ...given,
    };
    return { written, complete: reportFirstState(parts) };
  }

  it('is complete with the last of the kinds that decide, once, by the fence of the term', async () => {
    const { written, complete } = session();
    for (const kind of ['ConfigMap', 'MeshService', 'MeshTrust', 'Mesh']) complete(kind);
    expect(written).toEqual([]);
    for (const kind of ['MeshParameters', 'Mesh']) complete(kind);
    await turn();
    expect(written).toMatchObject([{ fence, metadata: [{ area: 'zone', key: 'first-state' }] }]);
  });

  it('of a global that declares kinds waits for the policies that say who may call, which are asked for after their definition', async () => {
    const { written, complete } = session({ declares: true });
    for (const kind of ['ConfigMap', 'MeshTrust', 'Mesh', 'MeshParameters', 'MetaresourceDefinition']) complete(kind);
    await turn();
    expect(written).toEqual([]);
    complete('AccessPolicy');
    await turn();
    expect(written).toHaveLength(1);
  });

  it('counts what earlier sessions had whole; a Kuma global has no settings', async () => {
    const { written } = session({ hadWhole: () => true });
    await turn();
    expect(written).toHaveLength(1);
    const kuma = session({ causeway: false });
    expect(kuma.written).toEqual([]);
    kuma.complete('Mesh');
    await turn();
    expect(kuma.written).toHaveLength(1);
  });

  it('ends the session when the store does not take it: no message may follow for days', async () => {
    const unstored: unknown[] = [];
    const onStoreFailure = (what: string, error: unknown): number => unstored.push([what, String(error)]);
    const { written, complete } = session({ causeway: false, onStoreFailure }, 1);
    complete('Mesh');
    complete('Mesh');
    await turn();
    expect(unstored).toEqual([['the record of a complete first state', 'Error: no database']]);
    expect(written).toEqual([]);
  });
});
