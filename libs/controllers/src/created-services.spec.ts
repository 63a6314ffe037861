/*
 * Resources that a leader creates: the write that creates them contains what the loops give them, and what they keep for them is given to nobody
 * else, whatever becomes of the write. Also: test/simulation, test/scenarios/one-mesh/new-services.ts.
 */
import { withDerivedFields, type LoopRunner } from '@causeway/loops';
import { Unavailable, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import type { Change, PutChange, WriteResult } from '@causeway/store';
import { dataplane, EAST, idOf, LoopHarness, put, tagged, type Replica } from '../../../test/support/loop-harness';
import { createZoneReconcilers } from './zone-reconcilers';

const ranges = { MeshService: '10.0.0.0/29' };
const api = idOf('MeshService', 'api', { zone: 'west' });
const web = idOf('MeshService', 'web', { zone: 'west' });
const generator = (template: string, zone = ''): Change =>
  put(idOf('HostnameGenerator', template.replace(/[^a-z]+/g, '-'), { mesh: '', zone }), {
    selector: { meshService: { matchLabels: {} } },
    template,
  });

/** A copy as the global sends it. */
function copy(id: Identity, creationOrder = 1, revision = 3): PutChange {
  const origin = { incarnation: 'of west', revision, committedAt: 5 };
  const facts = { uid: id.name, generation: 1, creationOrder, createdAt: 5, origin };
  const labels = { 'kuma.io/display-name': id.name, 'kuma.io/zone': id.zone, 'kuma.io/origin': 'global' };
  const spec = { ports: [{ port: 80 }], state: 'Available' };
  return { type: 'put', id, expect: 'any', labels, spec, copy: facts };
}

describe('a service that the leader creates', () => {
  let harness: LoopHarness;
  let replica: Replica;
  let runner: LoopRunner;
  const lead = async (): Promise<void> => {
    runner = await replica.lead(createZoneReconcilers({ cp: EAST, ranges, cooldown: 60_000 }));
    await replica.settle();
  };
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    await harness.write(
      put({ kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'default' }, {}),
      generator('{{ .DisplayName }}.mesh'),
    );
    await lead();
  });
  afterEach(() => harness.stop());

  /** Writes copies as the session with the global does. */
  const write = (...changes: readonly Change[]): Promise<WriteResult> =>
    runner.write({ changes, onRefusal: 'skip', fence: harness.disk.leader });
  const found = async (id: Identity): Promise<Resource> => {
    const service = await harness.get(id);
    if (!service) throw new Error(`${id.name} does not exist`);
    return service;
  };
  const shown = async (id: Identity): Promise<unknown> => {
    const { status = {} } = await found(id);
    const addresses = (status['addresses'] ?? []) as readonly JsonObject[];
    const names = addresses.map(({ hostname, status: state }) =>
      `${JSON.stringify(hostname)} ${JSON.stringify(state)}`.replaceAll('"', ''),
    );
    return [(status['vip'] as JsonObject | undefined)?.['ip'], ...names];
  };

  it('has its address and names in that write: loops write nothing more', async () => {
    const { revision } = harness;
    await write(copy(api), copy(web));
    expect(await shown(api)).toEqual(['10.0.0.0', 'api.mesh Available']);
    expect(await shown(web)).toEqual(['10.0.0.1', 'web.mesh Available']);
    await replica.settle();
    expect(harness.revision).toBe(revision + 2);
    // The cursor of the range is written with them, for the next leader.
    expect(await replica.store.readMetadata('vip-cursor', 'MeshService')).toEqual({ ip: '10.0.0.1' });
  });

  it('keeps address and names where it exists already, and what another writer gave it', async () => {
    await write(copy(api));
    await write({ ...copy(api), spec: { ports: [{ port: 81 }], state: 'Available' } });
    expect(await shown(api)).toEqual(['10.0.0.0', 'api.mesh Available']);
    expect((await found(api)).spec['ports']).toEqual([{ port: 81 }]);
  });

  it('I3: gets a contested name by a plan, so that no two rows show it at once', async () => {
    const sameName = idOf('MeshService', 'api', { zone: 'north' });
    await write(copy(api, 5));
    const held: string[] = [];
    await write(copy(sameName, 2));
    for (;;) {
      const rows = await Promise.all([shown(api), shown(sameName)]);
      held.push(rows.map((row) => (String(row).includes('api.mesh Available') ? 'x' : '-')).join(''));
      if (!(await runner.step())) break;
    }
    // The older of the two wins.
    expect([held[0], held.at(-1)]).toEqual(['x-', '-x']);
    expect(held).not.toContain('xx');
  });

  it('I3: two services of one write that want one name do not both get it', async () => {
    await write(copy(api, 5), copy(idOf('MeshService', 'api', { zone: 'north' }), 2));
    const rows = await Promise.all([shown(api), shown(idOf('MeshService', 'api', { zone: 'north' }))]);
    expect(rows.filter((row) => String(row).includes('api.mesh Available')).length).toBeLessThan(2);
    await replica.settle();
    expect(await shown(idOf('MeshService', 'api', { zone: 'north' }))).toContain('api.mesh Available');
    expect(await shown(api)).toContain('api.mesh NotAvailable');
  });

  it('that is refused gives back address and names', async () => {
    await harness.tryWrite(copy(web));
    await replica.settle();
    await harness.tryWrite({ type: 'delete', id: web, expect: 'any' });
    await replica.settle();
    const refused = await write(copy(web, 1, 2));
    expect(refused.results).toMatchObject([{ type: 'refused', refusal: 'older' }]);
    await replica.settle();
    await write(copy(idOf('MeshService', 'web', { zone: 'north' })));
    expect(await shown(idOf('MeshService', 'web', { zone: 'north' }))).toEqual(['10.0.0.1', 'web.mesh Available']);
  });

  it('I1 I2 I3: whose write has an unknown end keeps what it got: nothing is given before the index has caught up', async () => {
    const { store, index } = replica;
    const inner = store.write.bind(store);
    const apply = jest.spyOn(index, 'apply').mockImplementation(() => undefined);
    store.write = async (request) => {
      await inner(request);
      throw new Unavailable('the answer is lost');
    };
    await expect(write(copy(api))).rejects.toThrow('the answer is lost');
    store.write = inner;
    const sameName = idOf('MeshService', 'api', { zone: 'north' });
    await write(copy(sameName, 2));
    expect(await shown(api)).toEqual(['10.0.0.0', 'api.mesh Available']);
    expect(await shown(sameName)).toEqual([undefined]);
    apply.mockRestore();
    index.load(await store.snapshot());
    await replica.settle();
    expect(await shown(api)).toEqual(['10.0.0.0', 'api.mesh Available']);
    expect(await shown(sameName)).toEqual(['10.0.0.1', 'api.mesh NotAvailable']);
  });

  it('I1: whose address another writer takes just before is created without it, and gets one by a plan', async () => {
    const hidden = idOf('MeshService', 'hidden', { zone: 'west' });
    const { store } = replica;
    const inner = store.write.bind(store);
    const vip = '10.0.0.0';
    store.write = async (request) => {
      store.write = inner;
      await inner({
        changes: [{ ...copy(hidden), initial: { status: { vip: { ip: vip, type: 'Kuma' } }, vip } }],
        onRefusal: 'abort',
      });
      return inner(request);
    };
    expect((await write(copy(api))).results).toMatchObject([{ type: 'written', created: true }]);
    expect(await shown(api)).toEqual([undefined]);
    await replica.settle();
    const given = await Promise.all([shown(api), shown(hidden)]);
    expect(given).toMatchObject([
      [expect.any(String), 'api.mesh Available'],
      [expect.any(String), 'hidden.mesh Available'],
    ]);
    expect(new Set(given.map(String)).size).toBe(2);
  });

  it('waits for a plan while others wait for an address: the older one gets the next that is free', async () => {
    const names = Array.from({ length: 8 }, (_, n) => idOf('MeshService', `s${n}`, { zone: 'west' }));
    await write(...names.map((id, n) => copy(id, n + 1)), copy(api, 100));
    await replica.settle();
    expect(await shown(api)).toEqual([undefined, 'api.mesh NotAvailable']);
    await harness.write({ type: 'delete', id: idOf('MeshService', 's0', { zone: 'west' }), expect: 'any' });
    await replica.settle();
    harness.clock.advance(60_000);
    await write(copy(web, 200));
    await replica.settle();
    expect(await shown(api)).toEqual(['10.0.0.0', 'api.mesh Available']);
    expect(await shown(web)).toEqual([undefined, 'web.mesh NotAvailable']);
  });

  it('made from a Dataplane by a loop is one write; made by a user it has its availability at once', async () => {
    const before = harness.revision;
    await harness.write(dataplane('redis-1', [tagged('redis', 80)], { app: 'redis' }));
    await replica.settle();
    expect(harness.revision).toBe(before + 2);
    expect(await shown(idOf('MeshService', 'redis'))).toEqual(['10.0.0.0', 'redis.mesh Available']);
    const users = idOf('MeshService', 'mine');
    const asked: PutChange = {
      type: 'put',
      id: users,
      expect: 'absent',
      labels: {},
      spec: { ports: [{ port: 80 }], selector: { dataplaneLabels: { matchLabels: { app: 'redis' } } } },
    };
    const loops = createZoneReconcilers({ cp: EAST, ranges });
    expect(withDerivedFields(loops, asked, 0)).toBe(asked);
    await harness.write(put(idOf('MeshService', 'first'), asked.spec));
    const other = harness.replica('other');
    await other.lead(loops);
    await other.settle();
    expect(withDerivedFields(loops, asked, 0)).toMatchObject({
      spec: { state: 'Available' },
      initial: { status: { dataplaneProxies: { total: 1, healthy: 1 } } },
    });
    expect(withDerivedFields(loops, copy(api), 0)).not.toHaveProperty('initial');
    // A label that no selector has named yet takes a walk through all Dataplanes: the loop takes it.
    const unindexed = { ports: [{ port: 80 }], selector: { dataplaneLabels: { matchLabels: { other: 'redis' } } } };
    expect(withDerivedFields(loops, { ...asked, spec: unindexed }, 0).spec).toEqual(unindexed);
  });

  it('whose Dataplanes are many is counted by the loop: a user does not wait for it', async () => {
    const loops = createZoneReconcilers({ cp: EAST, ranges });
    const other = harness.replica('other');
    const ports = [{ port: 80 }];
    const spec = { ports, selector: { dataplaneLabels: { matchLabels: { app: 'redis' } } } };
    const asked: PutChange = { type: 'put', id: idOf('MeshService', 'mine'), expect: 'absent', labels: {}, spec };
    await harness.write(
      put(idOf('MeshService', 'first'), spec),
      ...Array.from({ length: 1_000 }, (_, n) => dataplane(`dp-${n}`, [{ port: 80 }], { app: 'redis' })),
    );
    await other.lead(loops);
    await other.settle();
    expect(withDerivedFields(loops, asked, 0).spec).toMatchObject({ state: 'Available' });
    await harness.write(dataplane('dp-more', [{ port: 80 }], { app: 'redis' }));
    await other.settle();
    expect(withDerivedFields(loops, asked, 0)).toBe(asked);
  });

  it('of kinds without addresses is written as it is, beside the turns of the loops', async () => {
    const policy = put(idOf('HTTPRoute', 'slow', { zone: 'west' }), {});
    expect((await write(policy)).results).toMatchObject([{ type: 'written', created: true }]);
  });
});
