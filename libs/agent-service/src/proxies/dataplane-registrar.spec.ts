import { Admission } from '@causeway/admission';
import { Enrolments } from '@causeway/identity';
import { coreKinds } from '@causeway/kinds';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryDisk } from '@causeway/store/testing';
import { meshesOf } from '../../../../test/support/meshes';
import { TestPlane } from '../../../../test/support/test-plane';
import { DataplaneRegistrar } from './dataplane-registrar';
import type { RegistrationRights } from './registration-rights';

const CP = { role: 'zone', zone: 'east', federated: true } as const;
const INBOUND = { port: 16379, servicePort: 6379, tags: { 'kuma.io/service': 'redis' } };

/** A replica of zone east that registers Dataplanes. */
class RegisteringReplica {
  readonly plane: TestPlane;
  readonly registrar: DataplaneRegistrar;

  constructor(
    disk: MemoryDisk,
    readonly clock: FakeClock,
  ) {
    this.plane = new TestPlane(CP, disk);
    const { store, index } = this.plane;
    const parts = { registry: coreKinds, controlPlane: CP, store, index, clock, meshes: meshesOf(index) };
    this.registrar = new DataplaneRegistrar({
      zone: 'east',
      index,
      clock,
      logger: silentLogger,
      enrolments: new Enrolments({
        cp: CP,
        index,
        store,
        clock,
        logger: silentLogger,
        takesKumaTokens: () => false,
        validity: 1,
      }),
      admission: (access: RegistrationRights) => new Admission({ ...parts, access }),
    });
  }

  async register(name: string): Promise<void> {
    const document = {
      type: 'Dataplane',
      mesh: 'default',
      name,
      networking: { address: '10.0.0.7', inbound: [INBOUND] },
    };
    await this.registrar.register(`default/${name}`, {
      mesh: 'default',
      name,
      document: JSON.stringify(document),
      credential: { id: 't', issuedAt: 0, binding: {} },
      until: 0,
      address: '',
    });
  }

  /** The last stream of its proxy has ended here, and its time is over. */
  async left(name: string): Promise<void> {
    this.registrar.scheduleRemoval(`default/${name}`, () => false);
    this.clock.advance(10_000);
    for (let turns = 0; turns < 20; turns++) await new Promise((next) => setImmediate(next));
  }
}

describe('a registered Dataplane', () => {
  const clock = new FakeClock(1_000_000);
  const disk = new MemoryDisk({ clock });
  const [one, other] = [new RegisteringReplica(disk, clock), new RegisteringReplica(disk, clock)];
  beforeAll(async () => {
    const { plane } = one;
    await plane.put('Mesh', 'default', {});
    await plane.put('Namespace', 'default', {});
  });
  afterAll(() => Promise.all([one.plane.close(), other.plane.close()]));
  const isStored = async (name: string): Promise<boolean> =>
    (await one.plane.store.get(one.plane.id('Dataplane', name))) !== undefined;

  it('goes some time after the last stream of its proxy', async () => {
    await one.register('redis-1');
    expect(await isStored('redis-1')).toBe(true);
    await one.left('redis-1');
    expect(await isStored('redis-1')).toBe(false);
  });

  it('stays when its proxy went to another replica, although the first one has not read that yet', async () => {
    await one.register('redis-2');
    one.plane.gate.shut();
    await other.register('redis-2');
    await one.left('redis-2');
    expect(await isStored('redis-2')).toBe(true);
    one.plane.gate.open();
  });

  it('is not written over one whose lease an agent holds', async () => {
    const id = one.plane.id('Dataplane', 'redis-3');
    const networking = { address: '10.0.0.9', inbound: [INBOUND] };
    await one.plane.put('Dataplane', 'redis-3', { networking }, { 'causeway.io/leased-by': 'agent-1' });
    await expect(one.register('redis-3')).rejects.toThrow('Dataplane redis-3 belongs to an agent (causeway-agent)');
    await one.left('redis-3');
    expect(await one.plane.store.get(id)).toMatchObject({
      labels: { 'causeway.io/leased-by': 'agent-1' },
      spec: { networking: { address: '10.0.0.9' } },
    });
  });
});
