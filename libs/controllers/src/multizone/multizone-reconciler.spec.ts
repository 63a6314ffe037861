import type { Identity, JsonObject, Labels } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { KeyedLoop } from '@causeway/loops';
import { MultizoneReconciler } from './multizone-reconciler';

const everywhere: Identity = {
  kind: 'MeshMultiZoneService',
  mesh: 'default',
  zone: '',
  namespace: '',
  name: 'backend',
};
const select = (matchLabels: Labels): JsonObject => ({
  selector: { meshService: { matchLabels } },
  ports: [{ port: 80 }],
});
const service = (
  name: string,
  rest: Partial<Identity> = {},
  labels: Labels = { 'kuma.io/display-name': name },
): Change => put(idOf('MeshService', name, rest), { ports: [{ port: 80 }] }, labels);

describe('MultizoneLoop', () => {
  let harness: LoopHarness;
  let replica: Replica;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    await replica.lead([new KeyedLoop(new MultizoneReconciler())]);
    await replica.settle();
  });
  afterEach(() => harness.stop());

  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const status = async (): Promise<JsonObject | undefined> => (await harness.get(everywhere))?.status;
  const match = (zone: string, name = 'backend'): JsonObject => ({ name, namespace: 'default', zone, mesh: 'default' });
  const mine = put(everywhere, select({ 'kuma.io/display-name': 'backend' }));

  // docs/reference/kuma-rest.md §9.6
  it('lists the services of all zones by name, namespace, zone and mesh, in whatever order they come', async () => {
    const all = [mine, service('backend'), service('web'), service('backend', { zone: 'west' })];
    for (const change of [...all].reverse()) await apply(change);
    expect(await status()).toMatchObject({
      meshServices: [match('east'), match('west')],
      conditions: [
        { type: 'MeshServicesMatched', status: 'True', reason: 'MatchesFound', message: 'Matched 2 MeshService(s)' },
      ],
    });
  });

  it('says when nothing matches, and when that ends', async () => {
    await apply(mine, service('web'));
    const none = {
      type: 'MeshServicesMatched',
      status: 'False',
      reason: 'NoMatchesFound',
      message: 'Selector does not match any MeshService in this zone',
      observedGeneration: 1,
    };
    expect(await status()).toEqual({
      conditions: [{ ...none, lastTransitionTime: new Date(harness.clock.now()).toISOString() }],
    });
    harness.clock.advance(1_000);
    await apply(service('backend'));
    expect(await status()).toMatchObject({ meshServices: [match('east')], conditions: [{ status: 'True' }] });
    await apply(remove(idOf('MeshService', 'backend')));
    expect(await status()).toMatchObject({ meshServices: [], conditions: [none] });
  });

  it('compares meshes (unlike Kuma) and sees implied labels', async () => {
    await apply(
      put(everywhere, select({ 'k8s.kuma.io/service-name': 'backend', team: 'a' })),
      service('backend', { mesh: 'other' }, { team: 'a' }),
      service('backend', { zone: 'west' }, { team: 'b' }),
      service('backend', {}, { team: 'a' }),
    );
    expect(await status()).toMatchObject({ meshServices: [match('east')] });
  });

  it('follows its own selector', async () => {
    await apply(mine, service('backend'), service('web'));
    await apply(put(everywhere, select({ 'kuma.io/display-name': 'web' })));
    expect(await status()).toMatchObject({
      meshServices: [match('east', 'web')],
      conditions: [{ observedGeneration: 2 }],
    });
  });

  it('a selector that no rule of ours lets in matches nothing', async () => {
    await apply(put(everywhere, { selector: { meshService: { matchLabels: {} } } }), service('backend'));
    expect((await status())?.['meshServices']).toBeUndefined();
    await apply(put(everywhere, { selector: 'x' }));
    expect((await status())?.['meshServices']).toBeUndefined();
  });

  it('I10 a status that changes on a MeshService writes nothing, nor does a resync', async () => {
    await apply(mine, service('backend'));
    await apply({
      type: 'patch',
      id: idOf('MeshService', 'backend'),
      expect: 'any',
      status: { dataplaneProxies: { total: 1 } },
    });
    const { revision } = harness;
    harness.clock.advance(600_000);
    await replica.settle();
    expect(harness.revision).toBe(revision);
  });
});
