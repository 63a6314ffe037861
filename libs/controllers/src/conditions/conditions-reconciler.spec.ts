import { generateKeyPairSync } from 'node:crypto';
import { coreKinds } from '@causeway/kinds';
import { findCondition, globalIdentity, type Identity, type JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { unsupportedByKuma } from '@causeway/kds';
import { EAST, idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { createConditionsReconciler } from './conditions-reconciler';
import { meshesOf } from '../../../../test/support/meshes';

const SPEC = { ports: [{ port: 80 }] };
const SINCE = '2026-01-01T00:00:00.000Z';
const mesh = (name: string): Change => put(globalIdentity('Mesh', name), {});
const zone = (name: string, status: JsonObject): Change => ({
  type: 'put',
  id: globalIdentity('Zone', name),
  expect: 'any',
  labels: { 'kuma.io/origin': 'global' },
  spec: {},
  status,
});
const lost = (name: string, policy: string): Change => zone(name, { lost: { policy, since: SINCE } });
const copy = (name: string, rest: Partial<Identity> = {}): Identity =>
  idOf('MeshService', name, { zone: 'west', ...rest });

describe('ConditionsLoop', () => {
  let harness: LoopHarness;
  let replica: Replica;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    await harness.write(mesh('default'), zone('west', {}));
    await replica.lead([
      createConditionsReconciler({ cp: EAST, registry: coreKinds, meshes: meshesOf(replica.index) }),
    ]);
    await replica.settle();
  });
  afterEach(() => harness.stop());

  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const said = async (id: Identity, type: string): Promise<JsonObject | undefined> =>
    findCondition((await harness.get(id))?.status, type);
  /** Rows that the loop wrote while `work` was done. */
  const written = async (work: () => Promise<void>): Promise<number> => {
    const before = harness.revision;
    await work();
    return harness.revision - before;
  };

  it('writes a condition again that a message removed before the index showed it', async () => {
    await harness.write(put(copy('web'), SPEC), lost('west', 'keep'));
    const loop = createConditionsReconciler({ cp: EAST, registry: coreKinds, meshes: meshesOf(replica.index) });
    loop.reset(replica.index);
    let plan = loop.plan(0);
    while (plan.more === true && plan.changes.length === 0) plan = loop.plan(0);
    expect(plan.changes).toHaveLength(1);
    loop.onWritten(plan.changes, { revision: 1, results: [] });
    expect(loop.plan(0).changes).toEqual(plan.changes);
  });

  describe('of a namespace', () => {
    const selecting = (name: string, team: string): Change =>
      put(
        { ...idOf('Mesh', name), mesh: '', zone: '', namespace: '' },
        { namespaceSelector: { matchLabels: { team } } },
      );
    const shop = (team: string): Change =>
      put({ ...idOf('Namespace', 'shop'), mesh: '', zone: '', namespace: '' }, {}, { team });
    const inShop = (name: string, rest: Partial<Identity> = {}): Identity => copy(name, { namespace: 'shop', ...rest });

    it('T003-23 T003-25 tells copies that another mesh selects it, or several, until that is over', async () => {
      await apply(
        selecting('a', 'a'),
        shop('b'),
        put(inShop('web'), SPEC),
        put(inShop('ours', { zone: 'east' }), SPEC),
      );
      expect(await said(inShop('web'), 'MembershipConflict')).toBeUndefined();
      expect(await written(() => apply(shop('a')))).toBe(2);
      expect(await said(inShop('web'), 'MembershipConflict')).toMatchObject({
        reason: 'OtherMesh',
        message:
          'it stays in mesh "default": namespace "shop" belongs to mesh "a" by its namespaceSelector; got mesh "default"',
      });
      expect(await said(inShop('ours', { zone: 'east' }), 'MembershipConflict')).toBeUndefined();
      expect(await written(() => apply(selecting('b', 'a')))).toBe(2);
      expect(await said(inShop('web'), 'MembershipConflict')).toMatchObject({
        reason: 'SeveralMeshes',
        message: expect.stringContaining('found 2: a,b'),
      });
      expect(await written(() => apply(selecting('b', 'x'), selecting('a', 'x')))).toBe(3);
      expect(await said(inShop('web'), 'MembershipConflict')).toBeUndefined();
    });
  });

  it('T000-07 tells the members of a Mesh of somebody else whose it is, until it is ours', async () => {
    const mesh = { ...idOf('Mesh', 'theirs'), mesh: '', zone: '', namespace: '' };
    const ids = [copy('web', { mesh: 'theirs' }), idOf('MeshService', 'ours', { mesh: 'theirs' })];
    await apply(put(mesh, { controllerName: 'x.io/y' }), ...ids.map((id) => put(id, SPEC)));
    for (const id of ids) {
      expect(await said(id, 'MeshMissing')).toMatchObject({
        status: 'True',
        reason: 'ForeignMesh',
        message: expect.stringContaining('Mesh "theirs" belongs to the controller "x.io/y"'),
      });
    }
    await apply(put(mesh, {}));
    for (const id of ids) expect(await said(id, 'MeshMissing')).toBeUndefined();
  });

  it('tells a Dataplane that its machine shows a credential of before enrolments, until it joins with a new one', async () => {
    const dataplane = idOf('Dataplane', 'web-1');
    const enrolment = (by: string, services?: readonly string[]): Change =>
      put(idOf('Enrolment', 'web-1', { namespace: 'default' }), {
        by,
        tokens: [],
        issuedAt: 0,
        ...(services && { services: [...services] }),
      });
    const inbound = [{ port: 80, tags: { 'kuma.io/service': 'web' } }];
    await apply(put(dataplane, { networking: { address: '10.0.0.1', inbound } }));
    expect(await written(() => apply(enrolment('upgrade', ['web', 'api'])))).toBe(2);
    expect(await said(dataplane, 'causeway.io/OldCredential')).toMatchObject({
      status: 'True',
      reason: 'NamesNoServices',
      message: expect.stringContaining('web-1 --mesh default --service web,api --bundle'),
    });
    await apply(enrolment('token', ['web', 'api']));
    expect(await said(dataplane, 'causeway.io/OldCredential')).toBeUndefined();
    // A user wrote the services: no machine was granted them.
    await apply(enrolment('upgrade'));
    expect(await said(dataplane, 'causeway.io/OldCredential')).toBeUndefined();
  });

  it('tells services that Mesh.mtls vouches for them while it is on', async () => {
    const mesh = (enabledBackend: string): Change =>
      put(
        { ...idOf('Mesh', 'default'), mesh: '', zone: '', namespace: '' },
        { mtls: { enabledBackend, backends: [{ name: 'ca-1', type: 'builtin' }] } },
      );
    const tagged = { ...SPEC, identities: [{ type: 'ServiceTag', value: 'web' }] };
    await apply(put(copy('web'), tagged), put(copy('other'), SPEC));
    expect(await said(copy('web'), 'MeshMtls')).toBeUndefined();
    await apply(mesh('ca-1'));
    expect(await said(copy('web'), 'MeshMtls')).toMatchObject({ status: 'True', reason: 'SharedAuthority' });
    expect(await said(copy('other'), 'MeshMtls')).toBeUndefined();
    await apply(mesh(''));
    expect(await said(copy('web'), 'MeshMtls')).toBeUndefined();
  });

  describe('of a lost zone', () => {
    it('has the condition on its copies, and only on those, until it is back', async () => {
      await apply(put(copy('web'), SPEC), put(idOf('MeshService', 'ours'), SPEC), lost('west', 'keep'));
      expect(await said(copy('web'), 'OriginLost')).toMatchObject({
        status: 'True',
        reason: 'Kept',
        message: `zone "west" has had no session with the global since ${SINCE}; policy keep`,
        observedGeneration: 1,
      });
      expect((await harness.get(idOf('MeshService', 'ours')))?.status).toBeUndefined();
      await apply(put(copy('later'), SPEC), lost('west', 'depreferred'));
      expect(await said(copy('web'), 'OriginLost')).toMatchObject({ reason: 'Depreferred' });
      expect(await said(copy('later'), 'OriginLost')).toMatchObject({ reason: 'Depreferred' });
      await apply(zone('west', {}));
      expect((await harness.get(copy('web')))?.status).toEqual({});
    });

    it('I10 writes each of many copies once a change of state and none a heartbeat', async () => {
      const copies = Array.from({ length: 1_200 }, (_, i) => copy(`web-${i}`));
      await apply(...copies.map((id) => put(id, SPEC)));
      expect(await written(() => apply(lost('west', 'keep')))).toBe(1 + copies.length);
      const beat = zone('west', { lost: { policy: 'keep', since: SINCE }, beat: 2 });
      expect(await written(() => apply(beat))).toBe(1);
      expect(await written(() => apply(zone('west', {})))).toBe(1 + copies.length);
    });

    it('I10 a next leader finds nothing to write', async () => {
      await apply(
        put(copy('web'), SPEC),
        put(copy('odd', { mesh: 'ghost' }), { ports: [{ port: 0 }] }),
        lost('west', 'keep'),
      );
      const next = harness.replica('b');
      await next.lead([createConditionsReconciler({ cp: EAST, registry: coreKinds, meshes: meshesOf(next.index) })]);
      expect(await written(() => next.settle())).toBe(0);
    });

    it('leaves the conditions of other writers alone, and restores one that another write removed', async () => {
      await apply(put(copy('web'), SPEC), lost('west', 'keep'));
      const other = { type: 'VIPAllocated', status: 'False', reason: 'RangeExhausted' };
      await apply({
        type: 'patch',
        id: copy('web'),
        expect: 'any',
        status: { vip: { ip: '241.0.0.1' }, conditions: [other] },
      });
      const status = (await harness.get(copy('web')))?.status;
      expect(status).toMatchObject({ vip: { ip: '241.0.0.1' }, conditions: [other, { type: 'OriginLost' }] });
      await apply(zone('west', {}));
      expect((await harness.get(copy('web')))?.status).toEqual({ vip: { ip: '241.0.0.1' }, conditions: [other] });
    });
  });

  it('reports a missing Mesh, on copies and on resources made here, until it exists', async () => {
    const ids = [copy('theirs', { mesh: 'ghost' }), idOf('MeshService', 'ours', { mesh: 'ghost' })];
    await apply(...ids.map((id) => put(id, SPEC)));
    for (const id of ids) {
      expect(await said(id, 'MeshMissing')).toMatchObject({
        status: 'True',
        reason: 'NoSuchMesh',
        message: expect.stringContaining('"ghost"'),
      });
    }
    await apply(mesh('ghost'));
    for (const id of ids) expect(await said(id, 'MeshMissing')).toBeUndefined();
    await apply(remove(globalIdentity('Mesh', 'ghost')));
    for (const id of ids) expect(await said(id, 'MeshMissing')).toBeDefined();
  });

  it('reports why a resource cannot be sent to Kuma zones, until it can be', async () => {
    const secret = globalIdentity('GlobalSecret', 'zone-token-signing-key-1');
    const pem = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs1', format: 'pem' });
    const data = (text: string | Buffer): string => Buffer.from(text).toString('base64');
    await replica.lead([
      createConditionsReconciler({
        cp: { role: 'global' },
        registry: coreKinds,
        meshes: meshesOf(replica.index),
        unsupportedByKuma: unsupportedByKuma(),
      }),
    ]);
    await apply(put(secret, { data: data('no key') }), put(copy('web'), SPEC));
    const condition = await said(secret, 'UnsupportedByKuma');
    expect(condition).toMatchObject({ status: 'True', reason: 'NotExpressible' });
    expect(condition?.['message']).toMatch(/^it is not sent to Kuma zones: /);
    expect((await harness.get(copy('web')))?.status).toBeUndefined();
    await apply(put(secret, { data: data(pem) }));
    expect(await said(secret, 'UnsupportedByKuma')).toBeUndefined();
  });

  it('reports which tolerated rule a copy breaks, until it does not; what users write here was checked when it was written', async () => {
    await apply(put(copy('web'), { ports: [{ port: 0 }] }), put(idOf('MeshService', 'ours'), { ports: [{ port: 0 }] }));
    expect(await said(copy('web'), 'RulesBroken')).toMatchObject({
      status: 'True',
      reason: 'Tolerated',
      message: expect.stringContaining('spec.ports[0].port must be 1 to 65535; got 0'),
    });
    expect(await said(idOf('MeshService', 'ours'), 'RulesBroken')).toBeUndefined();
    await apply(put(copy('web'), SPEC));
    expect(await said(copy('web'), 'RulesBroken')).toBeUndefined();
  });
});
