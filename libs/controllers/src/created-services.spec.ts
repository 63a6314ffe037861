/*
 * Resources that a leader creates: the write that creates them contains what the loops give them, and what they keep for them is given to nobody
 * else, whatever becomes of the write. Also: test/simulation, test/scenarios/one-mesh/new-services.ts.
 */
import type { LoopRunner } from '@causeway/loops';
import { Unavailable, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import { RefusedWrite, type Change, type PutChange, type WriteResult } from '@causeway/store';
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

/** A service of a user, of the Dataplanes with these labels. */
function selecting(name: string, matchLabels: JsonObject): PutChange {
  const spec = { ports: [{ port: 80 }], selector: { dataplaneLabels: { matchLabels } } };
  return { type: 'put', id: idOf('MeshService', name), expect: 'absent', labels: {}, spec };
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
  /** Writes as admission does. */
  const create = (change: Change): Promise<WriteResult> => runner.write({ changes: [change], onRefusal: 'skip' });
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

  it('made from a Dataplane by a loop is one write', async () => {
    const before = harness.revision;
    await harness.write(dataplane('redis-1', [tagged('redis', 80)], { app: 'redis' }));
    await replica.settle();
    expect(harness.revision).toBe(before + 2);
    expect(await shown(idOf('MeshService', 'redis'))).toEqual(['10.0.0.0', 'redis.mesh Available']);
  });

  it('made by a user is one write, with the availability that its Dataplanes give it', async () => {
    await harness.write(
      put(idOf('MeshService', 'first'), selecting('first', { app: 'redis' }).spec),
      dataplane('redis-1', [{ port: 80 }], { app: 'redis' }),
    );
    await replica.settle();
    const before = harness.revision;
    await create(selecting('mine', { app: 'redis' }));
    await replica.settle();
    expect(harness.revision).toBe(before + 1);
    expect(await found(idOf('MeshService', 'mine'))).toMatchObject({
      spec: { state: 'Available' },
      status: { dataplaneProxies: { total: 1, healthy: 1 }, vip: { ip: expect.any(String) } },
    });
    // A label that no selector has named yet takes a walk through all Dataplanes: the loop takes it.
    await create(selecting('unindexed', { other: 'redis' }));
    expect((await found(idOf('MeshService', 'unindexed'))).spec).not.toHaveProperty('state');
  });

  it('whose Dataplanes are many is counted by the loop: a user does not wait for it', async () => {
    await harness.write(
      put(idOf('MeshService', 'first'), selecting('first', { app: 'redis' }).spec),
      ...Array.from({ length: 1_000 }, (_, n) => dataplane(`dp-${n}`, [{ port: 80 }], { app: 'redis' })),
    );
    await replica.settle();
    await create(selecting('second', { app: 'redis' }));
    expect((await found(idOf('MeshService', 'second'))).spec).toMatchObject({ state: 'Available' });
    await harness.write(dataplane('dp-more', [{ port: 80 }], { app: 'redis' }));
    await replica.settle();
    await create(selecting('third', { app: 'redis' }));
    expect((await found(idOf('MeshService', 'third'))).spec).not.toHaveProperty('state');
  });

  it('I1 I2 I3: beside others that are under way, gets nothing that one of them may have; loops wait for all', async () => {
    const { index, store } = replica;
    const names = ['west', 'north', 'south'].map((zone) => idOf('MeshService', 'api', { zone }));
    const all = [...names, web, idOf('MeshService', 'other')];
    const apply = jest.spyOn(index, 'apply').mockImplementation(() => undefined);
    await Promise.all(all.map((id, n) => write(copy(id, n + 1))));
    const rows = (await Promise.all(all.map(shown))) as (string | undefined)[][];
    expect(rows.filter((row) => row.includes('api.mesh Available'))).toHaveLength(1);
    const addresses = rows.map(([ip]) => ip).filter(Boolean);
    expect([addresses.length, new Set(addresses).size]).toEqual([5, 5]);
    const ends: string[] = [];
    const step = runner.step().then(() => ends.push('turn'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends).toEqual([]);
    apply.mockRestore();
    index.load(await store.snapshot());
    await step;
    await replica.settle();
    expect(await shown(idOf('MeshService', 'api', { zone: 'west' }))).toContain('api.mesh Available');
    for (const id of names.slice(1)) expect(await shown(id)).toContain('api.mesh NotAvailable');
  });

  it('written twice at once has one address and its names, and so have others', async () => {
    const answers = await Promise.all([write(copy(api)), write(copy(api)), write(copy(web))]);
    expect(answers.map(({ results }) => results[0]?.type)).toContain('written');
    await replica.settle();
    expect(await shown(api)).toEqual(['10.0.0.0', 'api.mesh Available']);
    expect((await shown(web)) as string[]).toContain('web.mesh Available');
  });

  it('I3: keeps its names where a second write of it is refused before the index contains the first', async () => {
    const apply = jest.spyOn(replica.index, 'apply').mockImplementation(() => undefined);
    await write(copy(api, 5));
    const again = runner.write({ changes: [{ ...copy(api, 5), expect: 'absent' }], onRefusal: 'abort' });
    await expect(again).rejects.toBeInstanceOf(RefusedWrite);
    const sameName = idOf('MeshService', 'api', { zone: 'north' });
    await write(copy(sameName, 2));
    expect([await shown(api), await shown(sameName)]).toEqual([
      ['10.0.0.0', 'api.mesh Available'],
      [expect.any(String)],
    ]);
    apply.mockRestore();
  });

  it('I3: is in the store before the loops start anew', async () => {
    const { store, index } = replica;
    const inner = store.write.bind(store);
    let end = (): void => undefined;
    store.write = async (request) => {
      await new Promise<void>((resolve) => (end = resolve));
      return inner(request);
    };
    const written = write(copy(api, 5));
    await new Promise((resolve) => setImmediate(resolve));
    store.write = inner;
    index.load(await store.snapshot());
    let hasStarted = false;
    const start = runner.step().then(() => (hasStarted = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasStarted).toBe(false);
    end();
    await Promise.all([written, start]);
    expect(index.get(api)).toBeDefined();
  });

  it('whose leader has ended meanwhile is created without address and names; the next leader gives them', async () => {
    const next = harness.replica('b');
    await next.lead(createZoneReconcilers({ cp: EAST, ranges, cooldown: 60_000 }));
    await create({ ...selecting('mine', { app: 'redis' }), expect: 'absent' });
    expect(await shown(idOf('MeshService', 'mine'))).toEqual([undefined]);
    await expect(write(copy(api))).resolves.toBeDefined();
    await next.settle();
    expect(await shown(idOf('MeshService', 'mine'))).toEqual([expect.any(String), 'mine.mesh Available']);
  });

  it('does not wait longer for a turn of the loops than 100 ms: it is written without address and names', async () => {
    const { index, store } = replica;
    const apply = jest.spyOn(index, 'apply').mockImplementation(() => undefined);
    await write(copy(api));
    const turn = runner.step();
    let answered = false;
    const created = create(selecting('mine', { app: 'redis' })).then(() => (answered = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    harness.clock.advance(100);
    await created;
    expect(await shown(idOf('MeshService', 'mine'))).toEqual([undefined]);
    apply.mockRestore();
    index.load(await store.snapshot());
    await turn;
    await replica.settle();
    expect(await shown(idOf('MeshService', 'mine'))).toEqual([expect.any(String), 'mine.mesh Available']);
  });

  it('of a batch of more than 500 is completed by the loops, so that no write holds up the process', async () => {
    const batch = (count: number) =>
      Array.from({ length: count }, (_, n) => copy(idOf('MeshService', `${count}-${n}`)));
    await write(...batch(501));
    expect(await shown(idOf('MeshService', '501-0'))).toEqual([undefined]);
    await replica.settle();
    expect(await shown(idOf('MeshService', '501-0'))).toEqual(['10.0.0.0', '501-0.mesh Available']);
    await write(...batch(500));
    expect(await shown(idOf('MeshService', '500-0'))).toEqual([undefined, '500-0.mesh Available']);
  });

  it('of kinds without addresses is written as it is, beside the turns of the loops', async () => {
    const policy = put(idOf('HTTPRoute', 'slow', { zone: 'west' }), {});
    expect((await write(policy)).results).toMatchObject([{ type: 'written', created: true }]);
  });
});
