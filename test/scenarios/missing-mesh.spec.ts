import { createConditionsReconciler, createZoneReconcilers } from '@causeway/controllers';
import type { DnsServer } from '@causeway/dns';
import { createDnsServer } from '@causeway/dns/testing';
import { coreKinds } from '@causeway/kinds';
import { findCondition, globalIdentity, type Identity, type JsonObject } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import type { Change } from '@causeway/store';
import { EAST, idOf, LoopHarness, put, remove, type Replica } from '../support/loop-harness';
import { meshesOf } from '../support/meshes';

const SPEC = { ports: [{ port: 80 }] };
const SHOP: Identity = globalIdentity('Mesh', 'shop');
const theirs = idOf('MeshService', 'web', { mesh: 'shop', zone: 'west' });
const ours = idOf('MeshService', 'till', { mesh: 'shop' });
const everybody: Change = {
  ...put(globalIdentity('HostnameGenerator', 'all'), {
    selector: { meshService: {} },
    template: '{{ name }}.mesh.local',
  }),
};

describe('a Mesh that is missing', () => {
  let harness: LoopHarness;
  let replica: Replica;
  let dns: DnsServer;

  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    const ranges = { MeshService: '241.0.0.0/8' };
    const meshes = meshesOf(replica.index);
    await replica.lead([
      ...createZoneReconcilers({ cp: EAST, ranges, meshes }),
      createConditionsReconciler({ cp: EAST, registry: coreKinds, meshes }),
    ]);
    dns = createDnsServer({ index: replica.index, zone: 'east', clock: harness.clock, logger: silentLogger });
    await apply(put(SHOP, {}), everybody, put(theirs, SPEC), put(ours, SPEC));
  });
  afterEach(() => harness.stop());

  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const status = async (id: Identity): Promise<JsonObject | undefined> => (await harness.get(id))?.status;
  const answers = (hostname: string): unknown => dns.lookup(hostname, 'A')['answers'];

  it('takes the hostnames of its services, not the services nor their addresses, and gives them back (I2)', async () => {
    const named = [answers('web.mesh.local'), answers('till.mesh.local')];
    for (const records of named) expect(records).toHaveLength(1);
    const before = await Promise.all([status(theirs), status(ours)]);
    await apply(remove(SHOP));
    for (const [i, id] of [theirs, ours].entries()) {
      const now = await status(id);
      expect(findCondition(now, 'MeshMissing')).toMatchObject({ status: 'True', reason: 'NoSuchMesh' });
      expect([now?.['vip'], now?.['addresses']]).toEqual([before[i]?.['vip'], []]);
    }
    expect([answers('web.mesh.local'), answers('till.mesh.local')]).toEqual([[], []]);
    await apply(put(SHOP, {}));
    expect(await Promise.all([status(theirs), status(ours)])).toEqual(before);
    expect([answers('web.mesh.local'), answers('till.mesh.local')]).toEqual(named);
  });
});
