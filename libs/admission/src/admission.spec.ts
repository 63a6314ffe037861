import { AccessPolicy, localAdmin } from '@causeway/access';
import { coreKinds } from '@causeway/kinds';
import { wireName } from '@causeway/naming';
import {
  Conflict,
  Forbidden,
  globalIdentity,
  Invalid,
  NotFound,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Kind,
} from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { followStore, ResourceIndex } from '@causeway/store';
import { MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { Admission } from './admission';
import { InUse } from './mesh-rules';
import { PreconditionFailed, type WriteAddress } from './requests';
import { meshesOf } from '../../../test/support/meshes';

const global: ControlPlane = { role: 'global' };
const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };
const alone: ControlPlane = { role: 'zone', zone: 'east', federated: false };
const anybody = { caller: localAdmin };

function kindOf(name: string): Kind {
  const kind = coreKinds.kind(name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}

function at(kind: string, name: string, rest: Partial<WriteAddress> = {}): WriteAddress {
  return { kind: kindOf(kind), name, ...rest };
}

const service = (name: string, port = 6379, more: JsonObject = {}): JsonObject => ({
  type: 'MeshService',
  mesh: 'default',
  name,
  spec: { selector: { dataplaneRef: { name: 'a' } }, ports: [{ port }] },
  ...more,
});

const generator = (name: string, template = '{{ name }}.mesh'): JsonObject => ({
  type: 'HostnameGenerator',
  name,
  spec: { selector: { meshService: {} }, template },
});

/** A store that counts the reads of one resource. */
class CountingStore extends MemoryStore {
  reads = 0;

  override get(id: Identity) {
    this.reads++;
    return super.get(id);
  }
}

/** Admission over a store, with an index that follows it. */
class Fixture {
  readonly clock = new FakeClock(1_000);
  readonly store: CountingStore;
  readonly index = new ResourceIndex();
  readonly admission: Admission;
  private readonly following = new AbortController();

  constructor(controlPlane: ControlPlane) {
    this.store = new CountingStore(new MemoryDisk({ clock: this.clock }));
    const { store, index, clock } = this;
    const access = new AccessPolicy({ registry: coreKinds, index, cp: controlPlane });
    this.admission = new Admission({
      registry: coreKinds,
      store,
      index,
      meshes: meshesOf(index),
      clock,
      controlPlane,
      access,
    });
    void followStore(store, index, { clock: systemClock, logger: silentLogger, signal: this.following.signal });
  }

  /** A fixture whose store has the mesh `default`. */
  static async open(controlPlane: ControlPlane): Promise<Fixture> {
    const fixture = new Fixture(controlPlane);
    await fixture.hold(globalIdentity('Mesh', 'default'), { 'kuma.io/origin': 'global' });
    return fixture;
  }

  async hold(id: Identity, labels: Record<string, string> = {}, spec: JsonObject = {}): Promise<void> {
    await this.store.write({ changes: [{ type: 'put', id, expect: 'any', labels, spec }], onRefusal: 'abort' });
    await this.refresh();
  }

  async refresh(): Promise<void> {
    await this.index.reached((await this.store.head()).revision);
  }

  /** The index lags from here on. */
  stopFollowing(): void {
    this.following.abort();
  }

  put(body: unknown, address?: WriteAddress) {
    return this.admission.put({ body, context: anybody, ...(address ? { address } : {}) });
  }
}

const eastRedis: Identity = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis' };
const westRedis: Identity = { ...eastRedis, zone: 'west' };
const westLabels = { 'kuma.io/display-name': 'redis', 'kuma.io/zone': 'west', 'kuma.io/origin': 'global' };

describe('Admission.put', () => {
  it('creates, then updates, and writes nothing for equal content', async () => {
    const fixture = await Fixture.open(east);
    const created = await fixture.put(service('redis'));
    expect(created).toMatchObject({ outcome: 'created', id: eastRedis, warnings: [] });
    const same = await fixture.put(service('redis'));
    expect(same).toMatchObject({ outcome: 'unchanged', revision: created.revision, etag: created.etag });
    const changed = await fixture.put(service('redis', 6380));
    expect(changed.outcome).toBe('updated');
    expect(changed.revision).toBe(created.revision + 1);
    expect(changed.etag).not.toBe(created.etag);
  });

  it('lists every violation at once and stores nothing', async () => {
    const fixture = await Fixture.open(east);
    const body = { ...service('Redis', 0), nonsense: 1 };
    const error = await fixture.put(body, at('MeshService', 'other')).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(Invalid);
    expect(error instanceof Invalid && error.violations.map((v) => v.field)).toEqual([
      'nonsense',
      'name',
      'name',
      'spec.ports[0].port',
    ]);
    expect((await fixture.store.head()).revision).toBe(1);
  });

  it('refuses to change or delete what is generated, with the name of what to edit', async () => {
    const fixture = await Fixture.open(east);
    const origin = { 'causeway.io/managed-by': 'VirtualNode', 'causeway.io/managed-by-name': 'n' };
    await fixture.hold({ ...eastRedis, name: 'vn-n' }, { ...origin, 'kuma.io/origin': 'zone' });
    const refusal = 'MeshService "vn-n" is generated from the VirtualNode "n" of its namespace; edit that instead';
    await expect(fixture.put(service('vn-n'))).rejects.toThrow(new Forbidden(refusal));
    const gone = fixture.admission.delete({
      context: anybody,
      address: at('MeshService', 'vn-n', { mesh: 'default' }),
    });
    await expect(gone).rejects.toThrow(new Forbidden(refusal));
    await expect(fixture.put(service('mine', 80, { labels: origin }))).rejects.toThrow(
      'is set by control planes only; leave it out',
    );
  });

  it('lists no more than a hundred violations, and says how many there are', async () => {
    const fixture = await Fixture.open(east);
    const nonsense = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`nonsense${i}`, 1]));
    const error = await fixture.put({ ...service('redis'), ...nonsense }).catch((e: unknown) => e);
    if (!(error instanceof Invalid)) throw error;
    expect([error.violations.length, error.total]).toEqual([100, 1_000]);
    expect(error.message).toMatch(/; and \d+ more$/);
    expect(error.message.length).toBeLessThan(5_000);
  });

  it('keeps server-owned fields and status of the stored resource', async () => {
    const fixture = await Fixture.open(east);
    await fixture.put(service('redis'));
    const stored = await fixture.store.get(eastRedis);
    const spec = { ...stored?.spec, state: 'Available' };
    await fixture.store.write({
      changes: [{ type: 'patch', id: eastRedis, expect: 'any', spec, status: { vip: { ip: '241.0.0.1' } } }],
      onRefusal: 'abort',
    });
    const lie = { selector: { dataplaneRef: { name: 'a' } }, ports: [{ port: 80 }], state: 'Unavailable' };
    await fixture.put(service('redis', 0, { spec: lie, status: {} }));
    const after = await fixture.store.get(eastRedis);
    expect(after?.spec).toMatchObject({ state: 'Available', ports: [{ port: 80 }] });
    expect(after?.status).toEqual({ vip: { ip: '241.0.0.1' } });
  });

  it.each<[string, ControlPlane, string, string]>([
    [
      'a service on the global',
      global,
      'MeshService',
      'MeshService is written in a zone; send it to the control plane of the zone it belongs to',
    ],
    ['a mesh in a zone', east, 'Mesh', 'Mesh is written on the global control plane; send it there'],
    ['a zone in a zone by itself', alone, 'Zone', 'Zone is written on the global control plane; send it there'],
  ])('says where to write %s', async (_, cp, kind, message) => {
    const fixture = await Fixture.open(cp);
    await expect(fixture.put({ type: kind, name: 'x' }, at(kind, 'x'))).rejects.toThrow(new Forbidden(message));
    await expect(fixture.put({ type: kind, name: 'x' })).rejects.toThrow(new Forbidden(message));
  });

  it('lets a zone by itself write meshes', async () => {
    const fixture = await Fixture.open(alone);
    expect(await fixture.put({ type: 'Mesh', name: 'demo' })).toMatchObject({ outcome: 'created', id: { zone: '' } });
  });

  it('asks for the mesh: NotFound where the address names it, a violation where the document does', async () => {
    const fixture = await Fixture.open(east);
    const body = service('redis', 1, { mesh: 'demo' });
    await expect(fixture.put(body, at('MeshService', 'redis', { mesh: 'demo' }))).rejects.toThrow(
      new NotFound('mesh "demo" does not exist'),
    );
    await expect(fixture.put(body)).rejects.toThrow('mesh: there is no mesh "demo"');
  });

  it('knows a mesh that the index has not seen yet', async () => {
    const fixture = new Fixture(global);
    await fixture.put({ type: 'Mesh', name: 'demo' });
    const body = { type: 'Secret', mesh: 'demo', name: 's', data: 'dGVzdA==' };
    expect(await fixture.put(body)).toMatchObject({ outcome: 'created' });
  });

  it('refuses to change what came from elsewhere, by zone, by wire name and by identity', async () => {
    const fixture = await Fixture.open(east);
    await fixture.hold(westRedis, westLabels);
    const made = 'MeshService west/default/redis was made in zone west; change it there';
    await expect(fixture.put(service('redis'), at('MeshService', 'redis', { zone: 'west' }))).rejects.toThrow(
      new Forbidden(made),
    );
    const wired = wireName({ kind: 'MeshService', mesh: 'default', name: 'redis', labels: westLabels });
    await expect(fixture.put(service('redis'), at('MeshService', wired))).rejects.toThrow(new Forbidden(made));
    await expect(
      fixture.put({ type: 'MeshService', name: 'redis' }, at('MeshService', 'redis', { zone: 'north' })),
    ).rejects.toThrow(NotFound);
    const meshHere = await Fixture.open(alone);
    await expect(meshHere.put({ type: 'Mesh', name: 'default' })).rejects.toThrow(
      'was made on the global control plane',
    );
  });

  it('takes the wire name of a resource made here for its plain one', async () => {
    const fixture = await Fixture.open(east);
    await fixture.put(service('redis'));
    await fixture.refresh();
    const labels = (await fixture.store.get(eastRedis))?.labels ?? {};
    const wired = wireName({ kind: 'MeshService', mesh: 'default', name: 'redis', labels });
    expect(await fixture.put(service('redis', 1), at('MeshService', wired))).toMatchObject({
      outcome: 'updated',
      id: eastRedis,
    });
  });

  it('makes a resource of this zone beside one of the global with the same name', async () => {
    const fixture = await Fixture.open(east);
    const id = globalIdentity('HostnameGenerator', 'g');
    await fixture.hold(id, { 'kuma.io/origin': 'global' });
    expect(await fixture.put(generator('g'))).toMatchObject({ outcome: 'created', id: { zone: 'east' } });
  });

  it('warns who writes over a service that was generated', async () => {
    const fixture = await Fixture.open(east);
    const id = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis' };
    const marked = { 'kuma.io/managed-by': 'meshservice-generator' };
    const put = async (labels: JsonObject) =>
      (await fixture.admission.put({ context: anybody, body: service('redis', 6379, { labels }) })).warnings;
    await fixture.hold(id, marked, { ports: [{ port: 80 }] });
    expect(await put(marked)).toEqual([expect.stringContaining('which will write over what you changed')]);
    await fixture.refresh();
    expect(await put({})).toEqual([
      'MeshService "redis" was made by meshservice-generator and is yours from now on: it no longer follows its Dataplanes and stays when they go; delete it to have it made anew',
    ]);
    await fixture.refresh();
    expect(await put({ team: 'db' })).toEqual([]);
  });

  it('never changes what is immutable', async () => {
    const fixture = new Fixture(global);
    await fixture.put({ type: 'Mesh', name: 'demo', spec: { controllerName: 'example.com/a' } });
    await expect(
      fixture.put({ type: 'Mesh', name: 'demo', spec: { controllerName: 'example.com/b' } }),
    ).rejects.toThrow('spec.controllerName: cannot be changed once set; it is "example.com/a", got "example.com/b"');
  });

  it('writes nothing on a dry run and says what it would', async () => {
    const fixture = await Fixture.open(east);
    const options = { context: anybody, dryRun: true };
    expect(await fixture.admission.put({ body: service('redis'), ...options })).toMatchObject({
      outcome: 'created',
      revision: 0,
    });
    expect(await fixture.store.get(eastRedis)).toBeUndefined();
    await expect(fixture.admission.put({ body: service('redis', 0), ...options })).rejects.toThrow(Invalid);
  });

  it('holds If-Match against the generation, which status writes leave alone', async () => {
    const fixture = await Fixture.open(east);
    const context = anybody;
    const { etag = '' } = await fixture.put(service('redis'));
    await fixture.store.write({
      changes: [{ type: 'patch', id: eastRedis, expect: 'any', status: { a: 1 } }],
      onRefusal: 'abort',
    });
    const body = service('redis', 7000);
    await expect(fixture.admission.put({ body, context, ifMatch: '"x.1"' })).rejects.toThrow(PreconditionFailed);
    await expect(fixture.admission.put({ body, context, ifMatch: `"x.1", ${etag}` })).resolves.toMatchObject({
      outcome: 'updated',
    });
    await expect(fixture.admission.put({ body, context, ifMatch: etag })).rejects.toThrow(PreconditionFailed);
    await expect(fixture.admission.put({ body, context, ifMatch: '*' })).resolves.toMatchObject({
      outcome: 'unchanged',
    });
    await expect(fixture.admission.put({ body: service('new'), context, ifMatch: '*' })).rejects.toThrow(
      PreconditionFailed,
    );
  });

  it('reads nothing before a write while its index is up to date, and trusts no index that lags', async () => {
    const fixture = await Fixture.open(east);
    const put = (port: number, ifMatch?: string): ReturnType<Admission['put']> =>
      fixture.admission.put({
        body: service('redis', port),
        context: anybody,
        ...(ifMatch === undefined ? {} : { ifMatch }),
      });
    await put(1);
    await fixture.refresh();
    const reads = jest.spyOn(fixture.store, 'get');
    const second = await put(2);
    expect([second.outcome, reads.mock.calls.length]).toEqual(['updated', 0]);
    // The index still holds port 1, and a write of it is no repetition.
    expect((await put(1)).outcome).toBe('updated');
    expect((await put(2)).outcome).toBe('updated');
    await expect(put(3, second.etag)).rejects.toThrow(PreconditionFailed);
  });

  it('tries again when a status write came between, and gives up with Conflict in the end', async () => {
    const fixture = await Fixture.open(east);
    fixture.stopFollowing();
    await fixture.put(service('redis'));
    const races = race(fixture.store, eastRedis, 2);
    expect(await fixture.put(service('redis', 1))).toMatchObject({ outcome: 'updated' });
    expect(races.left).toBe(0);
    race(fixture.store, eastRedis, 100);
    const error = await fixture.put(service('redis', 2)).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(Conflict);
    expect(error).not.toBeInstanceOf(PreconditionFailed);
  });
});

describe('what the store refuses', () => {
  it.each([
    ['unstorable', Invalid, 'no store holds this'],
    ['vip-taken', Conflict, 'no store holds this'],
    ['conflict', Conflict, 'somebody else wrote it at the same time; read it again and retry'],
  ] as const)('%s is thrown with its reason unless it is a race', async (refusal, expected, message) => {
    const { admission, store } = await Fixture.open(east);
    let writes = 0;
    store.write = async () => {
      writes += 1;
      return { revision: 1, results: [{ type: 'refused', refusal, detail: 'no store holds this' }] };
    };
    const error = await admission.put({ body: service('redis'), context: anybody }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(expected);
    expect(error).toMatchObject({ message });
    expect(writes).toBe(refusal === 'conflict' ? 4 : 1);
  });
});

/** Lets a status write come between the next reads and the writes made from them. */
function race(store: MemoryStore, id: Identity, times: number): { left: number } {
  const races = { left: times };
  const read = store.get.bind(store);
  store.get = async (wanted) => {
    const found = await read(wanted);
    if (wanted.kind === id.kind && races.left > 0) {
      races.left -= 1;
      await store.write({
        changes: [{ type: 'patch', id, expect: 'any', status: { n: races.left } }],
        onRefusal: 'abort',
      });
    }
    return found;
  };
  return races;
}

describe('Admission.patch', () => {
  const patch = (fixture: Fixture, name: string, change: unknown) =>
    fixture.admission.patch({ patch: change, address: at('MeshService', name, { mesh: 'default' }), context: anybody });

  it('merges into what is stored; null removes', async () => {
    const fixture = await Fixture.open(east);
    await fixture.put(service('redis', 1, { labels: { team: 'db', tier: '1' } }));
    await patch(fixture, 'redis', {
      labels: { team: null, tier: '2' },
      spec: { ports: [{ port: 2 }] },
      status: { x: 1 },
    });
    expect(await fixture.store.get(eastRedis)).toMatchObject({
      labels: { tier: '2', 'kuma.io/zone': 'east' },
      spec: { selector: { dataplaneRef: { name: 'a' } }, ports: [{ port: 2, appProtocol: 'tcp' }] },
    });
    expect((await fixture.store.get(eastRedis))?.labels['team']).toBeUndefined();
    expect(await patch(fixture, 'redis', {})).toMatchObject({ outcome: 'unchanged' });
  });

  it('is validated like a put', async () => {
    const fixture = await Fixture.open(east);
    await fixture.put(service('redis'));
    await expect(patch(fixture, 'redis', { spec: { ports: [{ port: 0 }] }, name: 'other' })).rejects.toThrow(Invalid);
    await expect(patch(fixture, 'redis', [])).rejects.toThrow(Invalid);
    await expect(patch(fixture, 'none', {})).rejects.toThrow(NotFound);
  });
});

describe('Admission.delete', () => {
  const remove = (fixture: Fixture, address: WriteAddress, more: { ifMatch?: string; dryRun?: boolean } = {}) =>
    fixture.admission.delete({ address, context: anybody, ...more });

  it('deletes what was made here, also before the index has it', async () => {
    const fixture = await Fixture.open(east);
    const { etag = '' } = await fixture.put(service('redis'));
    const address = at('MeshService', 'redis');
    expect(await remove(fixture, address, { dryRun: true })).toMatchObject({ outcome: 'deleted' });
    await expect(remove(fixture, address, { ifMatch: '"x.1"' })).rejects.toThrow(PreconditionFailed);
    expect(await remove(fixture, address, { ifMatch: etag })).toMatchObject({ outcome: 'deleted', id: eastRedis });
    expect(await fixture.store.get(eastRedis)).toBeUndefined();
    await expect(remove(fixture, address)).rejects.toThrow(
      'MeshService east/default/redis of mesh default does not exist',
    );
  });

  it('reads nothing from the store if the index has the resource, and decides a refusal by the store', async () => {
    const fixture = await Fixture.open(east);
    await fixture.put(service('redis'));
    await fixture.refresh();
    const { reads } = fixture.store;
    await remove(fixture, at('MeshService', 'redis'));
    expect(fixture.store.reads).toBe(reads);
    await fixture.put(service('redis'));
    await fixture.refresh();
    fixture.stopFollowing();
    const { etag = '' } = await fixture.put(service('redis', 6380));
    expect(await remove(fixture, at('MeshService', 'redis'), { ifMatch: etag })).toMatchObject({ outcome: 'deleted' });
  });

  it('leaves alone what other zones and the global made, and says who has the name', async () => {
    const fixture = await Fixture.open(east);
    await fixture.hold(westRedis, westLabels);
    await expect(remove(fixture, at('MeshService', 'redis'))).rejects.toThrow(
      /does not exist; this name exists with zone=west/,
    );
    await expect(remove(fixture, at('MeshService', 'redis', { zone: 'west' }))).rejects.toThrow(
      'was made in zone west',
    );
  });

  it('T003-28 keeps a mesh that has members, and counts them', async () => {
    const fixture = await Fixture.open(global);
    await fixture.put({ type: 'Mesh', name: 'demo' });
    await fixture.hold({ ...westRedis, mesh: 'demo' }, westLabels);
    await fixture.refresh();
    const error = await remove(fixture, at('Mesh', 'demo')).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(InUse);
    expect(String(error)).toContain('please delete them to proceed. MeshService: 1');
    await fixture.store.write({
      changes: [{ type: 'delete', id: { ...westRedis, mesh: 'demo' }, expect: 'any' }],
      onRefusal: 'abort',
    });
    await fixture.refresh();
    expect(await remove(fixture, at('Mesh', 'demo'))).toMatchObject({ outcome: 'deleted' });
  });

  it('waits for an index that lags before it decides about a mesh', async () => {
    const fixture = await Fixture.open(global);
    fixture.stopFollowing();
    await fixture.put({ type: 'Mesh', name: 'demo' });
    const waiting = remove(fixture, at('Mesh', 'demo'));
    const outcome = expect(waiting).rejects.toThrow('this replica has not reached revision 2 yet');
    while (fixture.clock.pending === 0) await Promise.resolve();
    fixture.clock.advance(5_000);
    await outcome;
  });
});
