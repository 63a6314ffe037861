import { AccessPolicy, localAdmin } from '@causeway/access';
import { Admission } from '@causeway/admission';
import { coreKinds } from '@causeway/kinds';
import { Invalid, type ControlPlane, type Identity, type JsonObject, type Kind } from '@causeway/resources';
import { systemClock } from '@causeway/runtime';
import { meshesOf } from '../support/meshes';
import { PostgresHomes } from '../support/postgres-homes';
import { RowLock } from '../support/row-lock';
import { TestPlane } from '../support/test-plane';

const controlPlane: ControlPlane = { role: 'zone', zone: 'east', federated: false };
const context = { caller: localAdmin };

function kindOf(name: string): Kind {
  const kind = coreKinds.kind(name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}

/** Returns the outcome of a write: the mesh, or the text of the refusal. */
function said(error: unknown): string {
  return error instanceof Invalid ? error.violations.map(({ reason }) => reason).join('; ') : String(error);
}

/** One replica: its connections to the database, its index, its admission. */
class Replica {
  readonly admission: Admission;

  constructor(readonly plane: TestPlane) {
    const { store, index } = plane;
    const access = new AccessPolicy({ registry: coreKinds, index, cp: controlPlane });
    const parts = { registry: coreKinds, store, index, meshes: meshesOf(index), clock: systemClock };
    this.admission = new Admission({ ...parts, controlPlane, access });
  }

  put(body: JsonObject): Promise<string> {
    return this.admission.put({ body, context }).then(({ id }) => id.mesh, said);
  }

  async apply(body: JsonObject): Promise<string> {
    const [result] = (await this.admission.apply({ documents: [{ body }], context })).results;
    if (result?.outcome === 'refused') return said(result.error);
    return result && result.outcome !== 'skipped' ? result.id.mesh : 'nothing';
  }

  remove(name: string): Promise<string> {
    return this.admission
      .delete({ address: { kind: kindOf('Mesh'), name }, context })
      .then(({ outcome }) => outcome, said);
  }
}

const mesh = (name: string, team?: string): JsonObject => ({
  type: 'Mesh',
  name,
  spec: team === undefined ? {} : { namespaceSelector: { matchLabels: { team } } },
});
const shop = (team: string): JsonObject => ({ type: 'Namespace', name: 'shop', labels: { team } });
const service = (name: string, place: JsonObject): JsonObject => ({
  type: 'MeshService',
  name,
  ...place,
  spec: { selector: { dataplaneTags: { app: name } }, ports: [{ port: 80 }] },
});

describe('membership, decided by two replicas on one database', () => {
  let homes: PostgresHomes;
  let a: Replica;
  let b: Replica;

  beforeEach(async () => {
    homes = new PostgresHomes();
    [a, b] = [new Replica(await plane()), new Replica(await plane())];
    for (const body of [mesh('default'), mesh('m'), mesh('a', 'a'), mesh('b', 'b'), shop('a')]) await b.put(body);
    await seenByBoth();
  });
  afterEach(async () => {
    await a.plane.close();
    await b.plane.close();
    await homes.drop();
  });

  const plane = async (): Promise<TestPlane> => new TestPlane(controlPlane, await homes.state('east'));
  const seenByBoth = async (): Promise<void> => {
    const { revision } = await a.plane.store.head();
    for (const { index } of [a.plane, b.plane]) await index.reached(revision);
  };
  const serviceId = (name: string, place: Partial<Identity>): Identity => a.plane.id('MeshService', name, place);

  /** Both decide from the same state; then the database takes the first before the second. */
  async function race(first: () => Promise<string>, second: () => Promise<string>): Promise<readonly string[]> {
    const lock = await RowLock.take(homes.url('east'), 'SELECT * FROM store_head FOR UPDATE');
    const one = first();
    await lock.stopped(1);
    const other = second();
    await lock.stopped(2);
    await lock.release();
    return Promise.all([one, other]);
  }

  it.each([['put'], ['apply']] as const)(
    'T003-28 %s of a member and deletion of its Mesh: one of them',
    async (way) => {
      const member = (name: string) => () => a[way](service(name, { mesh: 'm' }));
      const inUse = 'InUse: objects belong to this mesh exists, please delete them to proceed. MeshService: 1';
      expect(await race(member('x'), () => b.remove('m'))).toEqual(['m', inUse]);
      await a.plane.store.write({
        changes: [{ type: 'delete', id: serviceId('x', { mesh: 'm' }), expect: 'any' }],
        onRefusal: 'abort',
      });
      await seenByBoth();
      expect(await race(() => b.remove('m'), member('y'))).toEqual(['deleted', 'there is no mesh "m"']);
      expect(await a.plane.store.get(serviceId('y', { mesh: 'm' }))).toBeUndefined();
    },
  );

  it.each([['put'], ['apply']] as const)(
    'T003-25 %s of a member and relabelling of its namespace: in the order in which they are stored',
    async (way) => {
      const member = (name: string) => () => a[way](service(name, { namespace: 'shop' }));
      expect(await race(member('x'), () => b.put(shop('b')))).toEqual(['a', '']);
      await seenByBoth();
      expect(await race(() => b.put(shop('a')), member('y'))).toEqual(['', 'a']);
      const named = (): Promise<string> => a[way](service('z', { namespace: 'shop', mesh: 'a' }));
      await seenByBoth();
      expect(await race(() => b.put(shop('b')), named)).toEqual([
        '',
        'namespace "shop" belongs to mesh "b" by its namespaceSelector; got mesh "a"',
      ]);
    },
  );

  it('T003-28 a replica that lags behind sees the members that others made before it deletes', async () => {
    a.plane.gate.shut();
    expect(await b.put(service('x', { mesh: 'm' }))).toBe('m');
    const removed = a.remove('m');
    a.plane.gate.open();
    expect(await removed).toMatch(/MeshService: 1$/);
    expect(await a.plane.store.get(a.plane.id('Mesh', 'm'))).toBeDefined();
  });

  it.each([['put'], ['apply']] as const)(
    'T003-25 %s by a replica that lags behind goes by the labels and the resources that others wrote',
    async (way) => {
      a.plane.gate.shut();
      expect(await b.put(service('x', { namespace: 'elsewhere', mesh: 'm' }))).toBe('m');
      const again = a[way](service('x', { namespace: 'elsewhere' }));
      a.plane.gate.open();
      expect(await again).toBe('m');
      expect(await a.plane.store.get(serviceId('x', { namespace: 'elsewhere' }))).toBeUndefined();
      a.plane.gate.shut();
      expect(await b.put(shop('b'))).toBe('');
      const created = a[way](service('y', { namespace: 'shop' }));
      a.plane.gate.open();
      expect(await created).toBe('b');
    },
  );
});
