import * as fc from 'fast-check';
import { coreKinds } from '@causeway/kinds';
import { globalIdentity, identityKey, type Identity, type JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { dataplane, idOf, LoopHarness, put, remove, tagged, type Replica } from '../../../../test/support/loop-harness';
import { meshesOf } from '../../../../test/support/meshes';
import { createConditionsReconciler } from '../conditions/conditions-reconciler';
import { createZoneReconcilers } from '../zone-reconcilers';
import { createMeshLoops } from './mesh-reconciler';

const ALONE = { role: 'zone', zone: 'east', federated: false } as const;
const OURS = 'causeway.io/control-plane';

const meshName = fc.constantFrom('default', 'default', 'team-b', 'team-c');
const meshSpec = fc.constantFrom<JsonObject>(
  {},
  { controllerName: OURS },
  { controllerName: OURS, description: 'é' },
  { controllerName: OURS, parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name: 'p' } },
  { controllerName: OURS, parametersRef: { kind: 'Secret', name: 'p' } },
  { controllerName: 'x.io/y', parametersRef: { kind: 'ConfigMap', name: 'p' } },
);
const settings = fc.constantFrom<JsonObject>(
  { exportDefault: 'None' },
  { vipRanges: { MeshService: '245.0.0.0/24' } },
  { vipRanges: { MeshService: 'banana' } },
);
const service = fc
  .tuple(fc.constantFrom('a', 'b'), meshName)
  .map(([name, mesh]) => idOf('MeshService', name, { mesh }));
const generator = globalIdentity('HostnameGenerator', 'g');
const ids: fc.Arbitrary<Identity> = fc.oneof(
  meshName.map((name) => globalIdentity('Mesh', name)),
  service,
  fc.constantFrom(globalIdentity('MeshParameters', 'p'), generator, idOf('Dataplane', 'd')),
);
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(meshName, meshSpec).map(([name, spec]) => put(globalIdentity('Mesh', name), spec)) },
  { weight: 2, arbitrary: settings.map((spec) => put(globalIdentity('MeshParameters', 'p'), spec)) },
  { weight: 3, arbitrary: service.map((id) => put(id, { ports: [{ port: 80 }] })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      put(generator, { selector: { meshService: {} }, template: '{{ name }}.mesh' }),
      dataplane('d', [tagged('web', 80)]),
    ),
  },
  { weight: 2, arbitrary: ids.map(remove) },
);
const happening = fc.oneof(
  { weight: 6, arbitrary: change.map((each) => ({ type: 'user', change: each }) as const) },
  { weight: 1, arbitrary: fc.constant({ type: 'next-leader' } as const) },
);

/** Everything of the Meshes that users own, by identity. */
async function meshesIn(harness: LoopHarness): Promise<ReadonlyMap<string, unknown>> {
  const rows = [...(await harness.rows())].filter(({ id }) => id.kind === 'Mesh');
  return new Map(
    rows.map(({ id, uid, labels, spec, generation }) => [identityKey(id), { uid, labels, spec, generation }]),
  );
}

async function lead(replica: Replica): Promise<void> {
  await replica.caughtUp();
  const meshes = meshesOf(replica.index);
  await replica.lead([
    ...createMeshLoops({
      cp: ALONE,
      meshes,
      features: [{ name: 'Mesh' }],
      acceptor: { controlPlane: ALONE, version: '1.0.0', storeId: 's' },
    }),
    ...createZoneReconcilers({ cp: ALONE, ranges: { MeshService: '241.0.0.0/24' }, meshes }),
    createConditionsReconciler({ cp: ALONE, registry: coreKinds, meshes }),
  ]);
}

describe('all control loops of a zone', () => {
  it('T000-18 T000-23 never change what users own of a Mesh; a term makes the expected one where it is missing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 4, maxLength: 14 }), async (happenings) => {
        const harness = new LoopHarness();
        try {
          let replica = harness.replica('0');
          await lead(replica);
          await replica.settle();
          for (const [i, what] of happenings.entries()) {
            if (what.type === 'user') await harness.tryWrite(what.change);
            else await lead((replica = harness.replica(`${i + 1}`)));
            const before = await meshesIn(harness);
            await replica.settle();
            const after = new Map(await meshesIn(harness));
            const expected = identityKey(globalIdentity('Mesh', 'default'));
            if (what.type === 'next-leader' && !before.has(expected)) {
              expect(after.get(expected)).toMatchObject({ spec: { controllerName: OURS } });
              after.delete(expected);
            }
            expect(after).toEqual(before);
          }
        } finally {
          await harness.stop();
        }
      }),
      { numRuns: 20 },
    );
  });
});
