import { findCondition, type JsonObject, type Labels, identityKey } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { countSteps } from '../../../../test/support/count-steps';
import { idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { RESCAN } from '@causeway/loops';
import { createSharedIdentityLoop, SHARED_IDENTITY, SharedIdentityReconciler } from './shared-identity-reconciler';

const dataplane = (name: string, labels: Labels = {}, zone = 'east'): Change =>
  put(idOf('Dataplane', name, { zone }), { networking: { address: '10.0.0.1', inbound: [] } }, labels);
const identity = (path: string, matchLabels: JsonObject = {}): Change =>
  put(idOf('MeshIdentity', 'all', { zone: '' }), {
    selector: { dataplane: { matchLabels } },
    spiffeID: { path },
    provider: { type: 'Bundled' },
  });
const workload = (name: string): Labels => ({ 'kuma.io/workload': name });

describe('the condition SharedIdentity', () => {
  let harness: LoopHarness;
  let replica: Replica;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
  });
  afterEach(() => harness.stop());

  const lead = async (): Promise<void> => {
    await replica.caughtUp();
    await replica.lead([createSharedIdentityLoop('east')]);
    await replica.settle();
  };
  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  /** The messages of the Dataplanes that have it, by name. */
  const shared = async (): Promise<Readonly<Record<string, unknown>>> => {
    const rows = (await harness.rows()).filter(({ id }) => id.kind === 'Dataplane');
    const found = rows.map(({ id, status }) => [id.name, findCondition(status, SHARED_IDENTITY)?.['message']] as const);
    return Object.fromEntries(found.filter(([, message]) => message !== undefined));
  };

  it('stands at the Dataplanes of two workloads that one path serves, not at instances of one, and ends with the cause', async () => {
    await harness.write(
      identity('/db', { 'kuma.io/workload': 'db' }),
      dataplane('one', workload('db')),
      dataplane('two', workload('db')),
      dataplane('web', { team: 'a' }),
      dataplane('far', { team: 'a' }, 'west'),
    );
    await lead();
    expect(await shared()).toEqual({});
    await apply(identity('/everybody'));
    expect(Object.keys(await shared()).sort()).toEqual(['one', 'two', 'web']);
    expect((await shared())['one']).toBe(
      'spiffe://default.east.mesh.local/everybody is also the id of default/web: nobody can tell these workloads apart',
    );
    await apply(dataplane('api'));
    expect((await shared())['web']).toContain('default/api, default/db');
    await apply(remove(idOf('Dataplane', 'web')), remove(idOf('Dataplane', 'api')));
    expect(await shared()).toEqual({});
    await apply(dataplane('web'));
    expect(Object.keys(await shared()).sort()).toEqual(['one', 'two', 'web']);
    await apply(remove(idOf('MeshIdentity', 'all', { zone: '' })));
    expect(await shared()).toEqual({});
  });

  it('follows labels, writes nothing where nothing changes, and is found again by a new term', async () => {
    await harness.write(identity('/{{ label "team" }}'), dataplane('a', { team: 'x' }), dataplane('b', { team: 'y' }));
    await lead();
    expect(await shared()).toEqual({});
    await apply(dataplane('b', { team: 'x' }));
    expect(Object.keys(await shared()).sort()).toEqual(['a', 'b']);
    const { revision } = harness;
    await lead();
    expect(harness.revision).toBe(revision);
    await apply(dataplane('b', { team: 'y' }));
    expect(await shared()).toEqual({});
  });

  it('looks at all Dataplanes again for a MeshIdentity that gives them other ids, not for one whose status was written', async () => {
    await harness.write(identity('/db'), dataplane('one'));
    const [before] = (await harness.rows()).filter(({ id }) => id.kind === 'MeshIdentity');
    if (!before) throw new Error('no MeshIdentity');
    const { id } = before;
    const reconciler = new SharedIdentityReconciler('east');
    const keys = (after: typeof before) =>
      reconciler.listKeys({ key: identityKey(id), id, before, after }, replica.index);
    expect(keys({ ...before, status: { conditions: [] } })).toEqual([]);
    expect(keys({ ...before, spec: { ...before.spec, spiffeID: { path: '/other' } } })).toEqual([RESCAN]);
    const far = { ...id, zone: 'west' };
    expect(reconciler.listKeys({ key: identityKey(far), id: far, before, after: undefined }, replica.index)).toEqual(
      [],
    );
  });

  it.each([100, 1_000])(
    'costs a Dataplane that comes the same beside %i instances of its workload',
    async (instances) => {
      await harness.write(
        identity('/db'),
        ...Array.from({ length: instances }, (_, n) => dataplane(`db-${n}`, workload('db'))),
      );
      await replica.caughtUp();
      const reconciler = new SharedIdentityReconciler('east');
      for (const _ of reconciler.seed(replica.index));
      await harness.write(dataplane('db-new', workload('db')));
      await replica.caughtUp();
      const id = idOf('Dataplane', 'db-new', {});
      const key = identityKey(id);
      const after = replica.index.get(id);
      expect(after).toBeDefined();
      const change = { key, id, before: undefined, after };
      expect(countSteps(() => expect(reconciler.listKeys(change, replica.index)).toEqual([key]))).toBeLessThan(20);
    },
  );
});
