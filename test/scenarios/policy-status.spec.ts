import { globalIdentity, isJsonArray, Unavailable, type JsonObject } from '@causeway/resources';
import type { Change, PutChange, ResourceStore } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import {
  ancestorsOf,
  conditionsOf,
  definition,
  PolicyLeader,
  policyId,
  putOf,
  type PolicyLeaderOptions,
} from '../support/policy-leader';
import { fuzzSeed } from '../support/fuzz-seed';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { TestPlane } from '../support/test-plane';
import { Prng } from '../simulation/engine/prng';

const EAST = { role: 'zone', zone: 'east', federated: true } as const;
/** Control planes bring a ColorPolicy of their own: this one is a second kind of that name, stored with its group behind it. */
const BARE_KIND = 'ColorPolicy';
const KIND = `${BARE_KIND}.example.com`;
const semantics = 'colours what is sent';
const BACKEND = { kind: 'MeshService', facet: 'backend', semantics };
const GATEWAY = { kind: 'Gateway', semantics };
const ROUTE = { kind: 'HTTPRoute', semantics };

const kindWith = (more: JsonObject): PutChange =>
  definition({
    group: 'example.com',
    kind: BARE_KIND,
    plural: 'colorpolicies',
    effectiveTarget: { level: 'Backend', semantics },
    schema: {
      type: 'object',
      properties: {
        color: { type: 'string', maxLength: 20 },
        colors: {
          type: 'object',
          properties: { dark: { type: 'string', maxLength: 20 }, light: { type: 'string', maxLength: 20 } },
        },
      },
    },
    ...more,
  });
const DIRECT = kindWith({ hierarchy: ['Backend'], declaredTargets: [BACKEND], mergeStrategies: ['None'] });
const inherited = (...mergeStrategies: readonly string[]): PutChange =>
  kindWith({
    hierarchy: ['Gateway', 'Route', 'Backend'],
    declaredTargets: [GATEWAY, ROUTE],
    mergeStrategies: ['AtomicDefaults', 'AtomicOverrides', ...mergeStrategies],
  });

/** Policies by name: the target and the spec of each, in the order of creation. */
type Policies = Readonly<Record<string, readonly [on: JsonObject, spec: JsonObject]>>;
const on = (kind: string, name: string): JsonObject => ({ kind, name });
const [g1, g2] = [on('Gateway', 'g1'), on('Gateway', 'g2')];
const [r1, r4] = [on('HTTPRoute', 'r1'), on('HTTPRoute', 'r4')];
const b1 = on('MeshService', 'b1');

const TRUE = {
  Enforced: 'Accepted=True/Accepted Enforced=True/Enforced PartiallyEnforced=False/Enforced Overridden=False/Enforced',
  PartiallyEnforced:
    'Accepted=True/Accepted Enforced=False/PartiallyEnforced PartiallyEnforced=True/PartiallyEnforced Overridden=False/PartiallyEnforced',
  Overridden:
    'Accepted=True/Accepted Enforced=False/Overridden PartiallyEnforced=False/Overridden Overridden=True/Overridden',
};
const refused = (reason: string): string =>
  ['Accepted', 'Enforced', 'PartiallyEnforced', 'Overridden'].map((type) => `${type}=False/${reason}`).join(' ');

const EX2: Policies = {
  p1: [g1, { color: 'red' }],
  p2: [r1, { color: 'blue' }],
  p3: [g2, { overrides: { color: 'yellow' } }],
  p4: [r4, { color: 'green' }],
};
const EX3: Policies = {
  p1: [g1, { colors: { dark: 'brown', light: 'red' }, strategy: 'atomic' }],
  p2: [r1, { colors: { light: 'blue' } }],
  p3: [g2, { overrides: { colors: { light: 'yellow' }, strategy: 'patch' } }],
  p4: [r4, { colors: { dark: 'olive', light: 'green' } }],
};

describe('the status of policies on Postgres', () => {
  let database: TestDatabase;
  const planes: TestPlane[] = [];
  const leaders: PolicyLeader[] = [];

  beforeEach(async () => {
    database = await createMigratedDatabase();
  });
  afterEach(async () => {
    for (const leader of leaders.splice(0)) leader.end();
    await Promise.all(planes.splice(0).map((plane) => plane.close()));
    await database.drop();
  });

  const open = async (): Promise<TestPlane> => {
    const plane = new TestPlane(EAST, await createPostgresBackend({ url: database.url, poolSize: 2 }));
    planes.push(plane);
    await plane.index.reached(0);
    return plane;
  };
  const lead = async (plane: TestPlane, holder: string, options?: PolicyLeaderOptions): Promise<PolicyLeader> => {
    const leader = await PolicyLeader.lead(plane, holder, options);
    leaders.push(leader);
    return leader;
  };
  /** The graph of the seed's examples: g1>r1>b1, g1>r2>b1 (of example 1 b2), g2>r3>b1, g2>r4>b2. */
  const graph = (plane: TestPlane, r2 = 'b1'): readonly Change[] => {
    const listeners = [{ name: 'web', port: 80, protocol: 'HTTP' }];
    const route = (name: string, gateway: string, backend: string): Change =>
      putOf(plane, 'HTTPRoute', name, {
        parentRefs: [{ name: gateway }],
        rules: [{ backendRefs: [{ name: backend, port: 80 }] }],
      });
    return [
      ...['b1', 'b2'].map((name) => putOf(plane, 'MeshService', name, { ports: [{ port: 80, name: 'web' }] })),
      ...['g1', 'g2'].map((name) => putOf(plane, 'Gateway', name, { gatewayClassName: 'c', listeners })),
      route('r1', 'g1', 'b1'),
      route('r2', 'g1', r2),
      route('r3', 'g2', 'b1'),
      route('r4', 'g2', 'b2'),
    ];
  };
  const putMesh = (): PutChange => ({
    type: 'put',
    id: globalIdentity('Mesh', 'default'),
    expect: 'any',
    labels: { 'kuma.io/origin': 'global' },
    spec: {},
  });
  const policy = (
    plane: TestPlane,
    name: string,
    target: JsonObject | readonly JsonObject[],
    spec: JsonObject,
  ): PutChange => {
    const targetRefs = isJsonArray(target) ? target : [target];
    return putOf(plane, KIND, name, { targetRefs, ...spec });
  };
  const put = async (plane: TestPlane, policies: Policies): Promise<void> => {
    for (const [name, [target, spec]] of Object.entries(policies))
      await plane.write([policy(plane, name, target, spec)]);
  };
  const id = (plane: TestPlane, name: string) => policyId(plane, KIND, name);
  const said = (plane: TestPlane, name: string): string => conditionsOf(plane, id(plane, name));
  const message = (plane: TestPlane, name: string): string => conditionsOf(plane, id(plane, name), true);
  const head = async ({ store }: TestPlane): Promise<number> => (await store.head()).revision;
  const east = async (kind: PutChange): Promise<{ readonly plane: TestPlane; readonly leader: PolicyLeader }> => {
    const plane = await open();
    await plane.write([putMesh(), kind, ...graph(plane, kind === DIRECT ? 'b2' : 'b1')]);
    return { plane, leader: await lead(plane, 'one') };
  };

  it('T004-24, T004-36: example 1: the older policy holds, the younger is in conflict with it', async () => {
    const { plane, leader } = await east(DIRECT);
    await put(plane, { p1: [b1, { color: 'red' }], p2: [b1, { color: 'blue' }] });
    await leader.settle();
    expect([said(plane, 'p1'), said(plane, 'p2')]).toEqual([TRUE.Enforced, refused('Conflicted')]);
    expect(JSON.stringify(plane.get(id(plane, 'p2'))?.status)).toContain('MeshService ns/b1 has the older ns/p1');
    expect(leader.counts).toEqual({ Enforced: 1, Conflicted: 1 });
    await plane.write([{ type: 'delete', id: id(plane, 'p1'), expect: 'any' }]);
    await leader.settle();
    expect(said(plane, 'p2')).toBe(TRUE.Enforced);
    expect(leader.counts).toEqual({ Enforced: 1 });
  });

  it('T004-37, T004-46, T004-48: example 2', async () => {
    const { plane, leader } = await east(inherited());
    await put(plane, EX2);
    await leader.settle();
    expect(['p1', 'p2', 'p3', 'p4'].map((name) => said(plane, name))).toEqual([
      TRUE.PartiallyEnforced,
      TRUE.Enforced,
      TRUE.Enforced,
      TRUE.Overridden,
    ]);
    expect(leader.counts).toEqual({ PartiallyEnforced: 1, Enforced: 2, Overridden: 1 });
    const decided = 'computed from the policies alone: this kind is sent to no proxy';
    expect(['p1', 'p3', 'p4'].map((name) => message(plane, name))).toEqual([
      `PartiallyEnforced: AtomicDefaults: enforced in 1 of 2 scopes; beaten by ns/p2 in g1>r1>b1; ${decided}`,
      `Enforced: AtomicOverrides: enforced in 2 of 2 scopes; ${decided}`,
      'Overridden: AtomicDefaults: enforced in 0 of 1 scopes; beaten by ns/p3 in g2>r4>b2',
    ]);
  });

  it('T004-32, T004-38, T004-47: example 3', async () => {
    const { plane, leader } = await east(inherited('PatchDefaults', 'PatchOverrides'));
    await put(plane, EX3);
    await leader.settle();
    expect(['p1', 'p2', 'p3', 'p4'].map((name) => said(plane, name))).toEqual([
      TRUE.PartiallyEnforced,
      TRUE.Enforced,
      TRUE.Enforced,
      TRUE.PartiallyEnforced,
    ]);
    expect(message(plane, 'p3')).toContain('PatchOverrides: enforced in 2 of 2 scopes');
    expect(message(plane, 'p4')).toContain('enforced /colors/dark; superseded /colors/light by ns/p3 in g2>r4>b2');
  });

  it('T004-61: when the policy that beat it goes, a policy is enforced', async () => {
    const { plane, leader } = await east(inherited());
    await put(plane, EX2);
    await leader.settle();
    const since = plane.get(id(plane, 'p4'))?.status;
    await plane.write([{ type: 'delete', id: id(plane, 'p3'), expect: 'any' }]);
    await leader.settle();
    expect(said(plane, 'p4')).toBe(TRUE.Enforced);
    expect(plane.get(id(plane, 'p4'))?.status).not.toEqual(since);
  });

  it('T004-13, T004-14: a route that comes later is in scope, without a write of the policy', async () => {
    const { plane, leader } = await east(inherited());
    await put(plane, { p3: [g2, { overrides: { color: 'yellow' } }] });
    await leader.settle();
    const generation = plane.get(id(plane, 'p3'))?.generation;
    const rules = [{ backendRefs: [{ name: 'b1', port: 80 }] }];
    await plane.write([putOf(plane, 'HTTPRoute', 'r5', { parentRefs: [{ name: 'g2' }], rules })]);
    await leader.settle();
    expect(message(plane, 'p3')).toContain('AtomicOverrides: enforced in 3 of 3 scopes');
    expect(plane.get(id(plane, 'p3'))?.generation).toBe(generation);
  });

  it('T004-44, T004-45: one ancestor for each reference; what is missing is not found until it is there', async () => {
    const { plane, leader } = await east(inherited());
    const gone = on('Gateway', 'gone');
    await plane.write([
      policy(plane, 'p', [g1, r4, gone], { color: 'red' }),
      policy(plane, 'q', gone, { color: 'red' }),
    ]);
    await leader.settle();
    expect(ancestorsOf(plane, id(plane, 'p'))).toEqual([
      'Gateway g1 Accepted=True/Accepted',
      'HTTPRoute r4 Accepted=True/Accepted',
      'Gateway gone Accepted=False/TargetNotFound',
    ]);
    expect(said(plane, 'p')).toBe(TRUE.Enforced);
    expect(said(plane, 'q')).toBe(refused('TargetNotFound'));
    const listeners = [{ name: 'web', port: 80, protocol: 'HTTP' }];
    await plane.write([putOf(plane, 'Gateway', 'gone', { gatewayClassName: 'c', listeners })]);
    await leader.settle();
    const nothing = 'False/NoEffectiveTargets';
    // T004-50: nothing is below it.
    expect(said(plane, 'q')).toBe(
      `Accepted=True/Accepted Enforced=${nothing} PartiallyEnforced=${nothing} Overridden=${nothing}`,
    );
  });

  it('T004-10: a section that is missing is not found', async () => {
    const { plane, leader } = await east(
      kindWith({ hierarchy: ['Gateway', 'Listener', 'Route', 'Backend'], declaredTargets: [GATEWAY] }),
    );
    const at = (sectionName: string): JsonObject => ({ ...g1, sectionName });
    await put(plane, { p: [at('web'), { color: 'red' }], q: [at('none'), { color: 'red' }] });
    await leader.settle();
    expect([said(plane, 'p'), said(plane, 'q')]).toEqual([TRUE.Enforced, refused('TargetNotFound')]);
    expect(ancestorsOf(plane, id(plane, 'q'))).toEqual(['Gateway g1 Accepted=False/TargetNotFound']);
  });

  it('T004-09: another namespace has to grant it, and may take that back', async () => {
    const { plane, leader } = await east(
      kindWith({
        hierarchy: ['Gateway', 'Route', 'Backend'],
        declaredTargets: [GATEWAY, ROUTE],
        crossNamespace: 'ReferenceGrant',
      }),
    );
    const spec = { targetRefs: [{ ...g1, namespace: 'ns' }], color: 'red' };
    await plane.write([putOf(plane, KIND, 'other/p', spec)]);
    await leader.settle();
    const other = policyId(plane, KIND, 'p', 'other');
    expect(conditionsOf(plane, other)).toBe(refused('RefNotPermitted'));
    const grant = putOf(plane, 'ReferenceGrant', 'grant', {
      from: [{ group: 'example.com', kind: BARE_KIND, namespace: 'other' }],
      to: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway' }],
    });
    await plane.write([grant]);
    await leader.settle();
    expect(conditionsOf(plane, other)).toBe(TRUE.Enforced);
    await plane.write([{ type: 'delete', id: grant.id, expect: 'any' }]);
    await leader.settle();
    expect(conditionsOf(plane, other)).toBe(refused('RefNotPermitted'));
  });

  it('T004-11: a virtual target is there because it is named', async () => {
    const virtualTargets = [{ group: 'networking.acme.io', kind: 'ExternalService', semantics }];
    const { plane, leader } = await east(
      kindWith({ hierarchy: ['Backend'], declaredTargets: [BACKEND], mergeStrategies: ['None'], virtualTargets }),
    );
    const acme = { group: 'networking.acme.io', ...on('ExternalService', 'foo.com') };
    await put(plane, { p: [acme, { color: 'red' }], q: [{ ...acme, kind: 'OtherService' }, { color: 'red' }] });
    await leader.settle();
    expect([said(plane, 'p'), said(plane, 'q')]).toEqual([TRUE.Enforced, refused('Invalid')]);
  });

  it('T004-02: a policy that its definition refuses, since that was changed, names field, rule and value', async () => {
    const { plane, leader } = await east(DIRECT);
    await put(plane, { p: [b1, { color: 'red' }] });
    await leader.settle();
    expect(said(plane, 'p')).toBe(TRUE.Enforced);
    const { spec } = DIRECT;
    const schema = { type: 'object', properties: { color: { type: 'string', enum: ['blue'] } } };
    await plane.write([{ ...DIRECT, spec: { ...spec, schema } }]);
    await leader.settle();
    expect(said(plane, 'p')).toBe(refused('Invalid'));
    expect(JSON.stringify(plane.get(id(plane, 'p'))?.status)).toMatch(/spec\.color .*blue.*red/);
    await plane.write([DIRECT]);
    await leader.settle();
    expect(said(plane, 'p')).toBe(TRUE.Enforced);
  });

  it('T004-49: at most one of Enforced, PartiallyEnforced and Overridden is True, in whatever order all came', async () => {
    const random = new Prng(fuzzSeed('policy-status'));
    const draw = (below: number): number => Math.floor(random.next() * below);
    const kind = inherited('PatchDefaults', 'PatchOverrides');
    const first = await east(kind);
    await put(first.plane, EX3);
    await first.leader.settle();
    const wanted = Object.keys(EX3).map((name) => message(first.plane, name));
    // The policies are as old as they are: they go and come again, in steps between which everything is decided.
    for (let round = 0; round < 6; round += 1) {
      const all = [kind, ...graph(first.plane)];
      const some = all.filter(() => draw(2) === 0);
      for (const change of some) await first.plane.write([{ type: 'delete', id: change.id, expect: 'any' }]);
      if (draw(2) === 0) await first.leader.settle();
      for (const change of [...some].sort(() => draw(3) - 1)) {
        await first.plane.write([change]);
        if (draw(2) === 0) await first.leader.settle();
      }
      await first.leader.settle();
      expect(Object.keys(EX3).map((name) => message(first.plane, name))).toEqual(wanted);
    }
    for (const name of Object.keys(EX3))
      expect(said(first.plane, name).match(/ (Enforced|PartiallyEnforced|Overridden)=True/g)).toHaveLength(1);
  });

  it('T004-60: one write for each policy, none for what it affects; a second run and a second leader write nothing', async () => {
    const { plane, leader } = await east(inherited());
    const targets = graph(plane).map((change) => change.id);
    await leader.settle();
    const before = targets.map((target) => plane.get(target)?.revision);
    await put(plane, EX2);
    await leader.settle();
    expect(leader.written).toBe(4);
    await plane.write([policy(plane, 'p2', r1, { color: 'pink' })]);
    await leader.settle();
    // The generation of one, and nothing else.
    expect(leader.written).toBe(5);
    expect(targets.map((target) => plane.get(target)?.revision)).toEqual(before);
    const revision = await head(plane);
    const next = await lead(plane, 'two');
    await Promise.all([next.settle(), leader.settle().catch(() => undefined)]);
    expect([await head(plane), next.written]).toEqual([revision, 0]);
  });

  it('250 routes below one Gateway cost one write of its policy', async () => {
    const { plane, leader } = await east(inherited());
    await leader.settle();
    const rules = [{ backendRefs: [{ name: 'b1', port: 80 }] }];
    const routes = Array.from({ length: 250 }, (_, i) =>
      putOf(plane, 'HTTPRoute', `many-${i}`, { parentRefs: [{ name: 'g1' }], rules }),
    );
    await plane.write([...routes, policy(plane, 'p', g1, { color: 'red' })]);
    await leader.settle();
    expect(message(plane, 'p')).toContain('enforced in 252 of 252 scopes');
    expect(leader.written).toBe(1);
  });

  it('routes that come one by one cost ten writes of the policy above them at once, and not one each', async () => {
    const { plane, leader } = await east(inherited());
    const rules = [{ backendRefs: [{ name: 'b1', port: 80 }] }];
    const come = async (n: number): Promise<void> => {
      await plane.write([putOf(plane, 'HTTPRoute', `more-${n}`, { parentRefs: [{ name: 'g1' }], rules })]);
      await leader.settle();
    };
    await put(plane, { p: [g1, { color: 'red' }] });
    await leader.settle();
    for (let n = 0; n < 10; n++) await come(n);
    expect([leader.written, message(plane, 'p')]).toEqual([11, expect.stringContaining('enforced in 12 of 12 scopes')]);
    const before = Date.now();
    for (let n = 10; n < 20; n++) await come(n);
    // A machine that takes long earns a write each ten seconds.
    expect(leader.written - 11).toBeLessThanOrEqual(Math.ceil((Date.now() - before) / 10_000) + 1);
  });

  it.each(['before', 'after'] as const)(
    'a leader that loses its store %s the write leaves one write behind',
    async (when) => {
      const plane = await open();
      await plane.write([putMesh(), DIRECT, ...graph(plane)]);
      let isBroken = false;
      const { store } = plane;
      const write: ResourceStore['write'] = async (request) => {
        const fails = isBroken && request.changes.length > 0;
        if (fails && when === 'before') throw new Unavailable('the connection is gone');
        const result = await store.write(request);
        if (fails) throw new Unavailable('the connection is gone');
        return result;
      };
      const breaking = Object.create(store, { write: { value: write } }) as ResourceStore;
      const leader = await lead(plane, 'one', { store: breaking });
      await leader.settle();
      await put(plane, { p: [b1, { color: 'red' }] });
      const revision = await head(plane);
      isBroken = true;
      await expect(leader.settle()).rejects.toThrow('the connection is gone');
      isBroken = false;
      await leader.settle();
      const next = await lead(plane, 'two');
      await next.settle();
      expect(said(plane, 'p')).toBe(TRUE.Enforced);
      expect([await head(plane), next.written]).toEqual([revision + 1, 0]);
    },
  );

  it('two leaders at once write once', async () => {
    const { plane, leader } = await east(DIRECT);
    const other = await open();
    const beside = await lead(other, 'one', { isBeside: true });
    await Promise.all([leader.settle(), beside.settle()]);
    await put(plane, { p: [b1, { color: 'red' }] });
    const revision = await head(plane);
    await other.index.reached(revision);
    await Promise.all([leader.settle(), beside.settle()]);
    expect(said(plane, 'p')).toBe(TRUE.Enforced);
    expect(await head(plane)).toBe(revision + 1);
  });
});
