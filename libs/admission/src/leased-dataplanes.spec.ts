import { AccessPolicy, ADMINS, type Caller } from '@causeway/access';
import { coreKinds, Dataplane } from '@causeway/kinds';
import { meshesOf } from '../../../test/support/meshes';
import { Conflict, globalIdentity, type ControlPlane, type Identity, type JsonObject } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { followStore, ResourceIndex } from '@causeway/store';
import { MemoryAgentLeases, MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { Admission } from './admission';
import type { BatchDocument } from './batch/batch';

const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };
const caller: Caller = { user: 'owner', groups: [ADMINS], by: 'user-token' };
const context = { caller };
const agent = { instance: 'i-1', run: 'r-1', startedAt: 1, machine: 'vm-1', address: '10.0.0.7' };
const id: Identity = { kind: 'Dataplane', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis-1' };
const address = { kind: Dataplane, mesh: 'default', name: 'redis-1' };

const networking = (serviceAddress: string, servicePort: number): JsonObject => ({
  address: '10.0.0.7',
  inbound: [{ port: 6379, serviceAddress, servicePort, tags: { 'kuma.io/service': 'redis' } }],
});
const own = networking('127.0.0.1', 6380);
/** An address that a service owner wants the agent to dial: the REST interface of the zone on its host. */
const stolen = networking('127.0.0.1', 5681);
const body = (of: JsonObject, labels: JsonObject = {}): JsonObject => ({
  type: 'Dataplane',
  mesh: 'default',
  name: 'redis-1',
  labels,
  networking: of,
});

const OF_HOLDER =
  'Dataplane "redis-1" is leased by the agent of machine vm-1 at 10.0.0.7 (instance i-1): its spec is what agent.yaml of that ' +
  'machine says; change it there, or end its right: causeway workloads revoke redis-1';

/** Admission over a store in which an agent holds the lease of `redis-1`. */
class Fixture {
  readonly store: MemoryStore;
  readonly index = new ResourceIndex();
  readonly admission: Admission;
  readonly leases: MemoryAgentLeases;

  private constructor() {
    const disk = new MemoryDisk({ clock: new FakeClock(1_000) });
    this.store = new MemoryStore(disk);
    this.leases = new MemoryAgentLeases(disk);
    const { store, index, leases } = this;
    const access = new AccessPolicy({ registry: coreKinds, index, cp: east });
    const parts = { registry: coreKinds, store, index, meshes: meshesOf(index), clock: systemClock };
    this.admission = new Admission({ ...parts, controlPlane: east, access, leases });
    const { signal } = new AbortController();
    void followStore(store, index, { clock: systemClock, logger: silentLogger, signal });
  }

  static async open(): Promise<Fixture> {
    const fixture = new Fixture();
    const mesh = globalIdentity('Mesh', 'default');
    const labels = { 'kuma.io/origin': 'global' };
    await fixture.store.write({
      changes: [{ type: 'put', id: mesh, expect: 'any', labels, spec: {} }],
      onRefusal: 'abort',
    });
    await fixture.refresh();
    await fixture.leases.take(
      [{ mesh: 'default', namespace: 'default', name: 'redis-1', agent, session: 's' }],
      10_000,
    );
    await fixture.register(own);
    return fixture;
  }

  /** As the stream of the agent writes. */
  async register(of: JsonObject, labels: JsonObject = {}): Promise<void> {
    await this.admission.put({
      body: body(of, { ...labels, 'causeway.io/leased-by': 'i-1' }),
      address,
      context: { ...context, holdsLease: true },
    });
    await this.refresh();
  }

  async refresh(): Promise<void> {
    await this.index.reached((await this.store.head()).revision);
  }

  async stored(): Promise<JsonObject> {
    return (await this.store.get(id))?.spec ?? {};
  }
}

describe('the spec of a leased Dataplane', () => {
  it('is not written by others: PUT, without an address, PATCH and a dry run are refused with the holder and what to do', async () => {
    const { admission, ...fixture } = await Fixture.open();
    const writes = [
      admission.put({ body: body(stolen), address, context }),
      admission.put({ body: body(stolen), context }),
      admission.put({ body: body(stolen), address, context, dryRun: true }),
      admission.patch({ patch: { spec: { networking: stolen } }, address, context }),
    ];
    for (const write of writes) await expect(write).rejects.toThrow(new Conflict(OF_HOLDER));
    expect((await fixture.store.get(id))?.spec).toMatchObject({ networking: own });
  });

  it.each([{ atomic: true }, { atomic: false }])('is not written by a batch (%o)', async (how) => {
    const fixture = await Fixture.open();
    const documents: readonly BatchDocument[] = [{ body: body(stolen) }];
    const { results } = await fixture.admission.apply({ documents, ...how, context });
    expect(results).toMatchObject([{ outcome: 'refused', error: new Conflict(OF_HOLDER) }]);
    expect(await fixture.stored()).toMatchObject({ networking: own });
  });

  it('may be put as it is, which writes nothing; labels are set by others, but not whose it is', async () => {
    const fixture = await Fixture.open();
    const { admission } = fixture;
    const before = (await fixture.store.get(id))?.revision;
    const same = await admission.put({ body: body(own), address, context });
    expect(same).toMatchObject({ outcome: 'unchanged', revision: before });
    const labels = { team: 'db', 'causeway.io/leased-by': 'somebody' };
    const labelled = await admission.put({ body: body(own, labels), address, context });
    expect(labelled).toMatchObject({ outcome: 'updated', labels: { team: 'db', 'causeway.io/leased-by': 'i-1' } });
    const patched = await admission.patch({ patch: { labels: { 'causeway.io/leased-by': null } }, address, context });
    expect(patched.labels).toMatchObject({ 'causeway.io/leased-by': 'i-1' });
  });

  it('is the holder’s to change, and its Dataplane to remove', async () => {
    const fixture = await Fixture.open();
    await fixture.register(networking('127.0.0.1', 6381));
    expect(await fixture.stored()).toMatchObject({ networking: { inbound: [{ servicePort: 6381 }] } });
    await fixture.admission.delete({ address, context: { ...context, holdsLease: true } });
    expect(await fixture.store.get(id)).toBeUndefined();
  });

  it('is not deleted by others, with the command that ends the right', async () => {
    const fixture = await Fixture.open();
    const deletion = fixture.admission.delete({ address, context });
    await expect(deletion).rejects.toThrow(/^Dataplane "redis-1" is leased by .* causeway workloads revoke redis-1$/);
    const dry = fixture.admission.delete({ address, context, dryRun: true });
    await expect(dry).rejects.toThrow(Conflict);
    expect(await fixture.store.get(id)).toBeDefined();
  });

  it('is the holder’s where the lease began after another write was decided: the write is decided again', async () => {
    const fixture = await Fixture.open();
    const { store, admission } = fixture;
    // Made by hand until now; the index has not heard of the agent yet.
    const hand = { ...id, name: 'redis-2' };
    const at = { ...address, name: 'redis-2' };
    const document = (of: JsonObject, labels: JsonObject = {}): JsonObject => ({
      ...body(of, labels),
      name: 'redis-2',
    });
    await admission.put({ body: document(own), address: at, context });
    await fixture.refresh();
    const get = store.get.bind(store);
    let isTaken = false;
    // The agent writes between the read and the write of the user.
    store.write = new Proxy(store.write.bind(store), {
      async apply(write, _, [request]: Parameters<typeof store.write>) {
        if (!isTaken) {
          isTaken = true;
          const labels = { 'causeway.io/leased-by': 'i-1' };
          await admission.put({ body: document(own, labels), address: at, context: { ...context, holdsLease: true } });
        }
        return write(request);
      },
    });
    const late = admission.put({ body: document(stolen), address: at, context });
    await expect(late).rejects.toThrow(/^Dataplane "redis-2" is leased by agent i-1: its spec/);
    expect((await get(hand))?.spec).toMatchObject({ networking: own });
  });
});
