import { AccessPolicy, localAdmin, type Caller } from '@causeway/access';
import { coreKinds } from '@causeway/kinds';
import { globalIdentity, Invalid, type ControlPlane, type Identity, type JsonObject } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex, type WriteRequest, type WriteResult } from '@causeway/store';
import { MemoryStore } from '@causeway/store/testing';
import { meshesOf } from '../../../test/support/meshes';
import { Admission } from './admission';
import type { BatchRequest } from './batch/batch';
import type { WriteAddress } from './requests';

const alone: ControlPlane = { role: 'zone', zone: 'east', federated: false };
const anna: Caller = { user: 'anna', groups: [], by: 'user-token' };

function kindOf(name: string): WriteAddress['kind'] {
  const kind = coreKinds.kind(name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}

const mesh = (name: string, namespaceSelector?: JsonObject, labels: JsonObject = {}): JsonObject => ({
  type: 'Mesh',
  name,
  labels,
  spec: namespaceSelector ? { namespaceSelector } : {},
});
const namespace = (name: string, labels: JsonObject = {}): JsonObject => ({ type: 'Namespace', name, labels });
const service = (name: string, place: JsonObject = {}): JsonObject => ({
  type: 'MeshService',
  name,
  ...place,
  spec: { selector: { dataplaneTags: { a: 'b' } }, ports: [{ port: 80 }] },
});
const team = (value: string): JsonObject => ({ matchLabels: { team: value } });

/** A store in which something happens right before a write. */
class InterruptedStore extends MemoryStore {
  interrupt: (() => Promise<unknown>) | undefined;

  override async write(request: WriteRequest): Promise<WriteResult> {
    const { interrupt } = this;
    this.interrupt = undefined;
    await interrupt?.();
    return super.write(request);
  }
}

/** Admission of a zone by itself, which holds the mesh `default`. */
class Fixture {
  readonly store = new InterruptedStore();
  readonly index = new ResourceIndex();
  readonly admission: Admission;
  private readonly ended = new AbortController();
  private readonly following: Promise<void>;

  constructor() {
    const { store, index } = this;
    const clock = systemClock;
    const access = new AccessPolicy({ registry: coreKinds, index, cp: alone });
    const parts = { registry: coreKinds, store, index, meshes: meshesOf(index), clock };
    this.admission = new Admission({ ...parts, controlPlane: alone, access });
    this.following = followStore(store, index, { clock, logger: silentLogger, signal: this.ended.signal });
  }

  /** The mesh in which a document is stored, or why not: the rule and the reason. */
  async put(body: JsonObject, address?: WriteAddress, caller: Caller = localAdmin): Promise<string> {
    try {
      const request = { body, context: { caller }, ...(address ? { address } : {}) };
      const { id, revision } = await this.admission.put(request);
      await this.index.reached(revision);
      return id.mesh;
    } catch (error) {
      return said(error);
    }
  }

  /** As `put`, of each document of a batch. */
  async apply(bodies: readonly JsonObject[], more: Partial<BatchRequest> = {}): Promise<string[]> {
    const documents = bodies.map((body) => ({ body }));
    const { results } = await this.admission.apply({ documents, context: { caller: localAdmin }, ...more });
    return results.map((result) => {
      if (result.outcome === 'refused') return said(result.error);
      return result.outcome === 'skipped' ? 'skipped' : result.id.mesh;
    });
  }

  remove(
    kind: string,
    name: string,
    more: { terminate?: boolean; mesh?: string; namespace?: string } = {},
  ): Promise<string> {
    const { terminate = false, ...place } = more;
    const request = { address: { kind: kindOf(kind), name, ...place }, terminate, context: { caller: localAdmin } };
    return this.admission.delete(request).then(({ outcome }) => outcome, said);
  }

  async end(): Promise<void> {
    this.ended.abort();
    await this.following;
  }
}

function said(error: unknown): string {
  if (!(error instanceof Invalid)) return String(error);
  return error.violations.map(({ rule, reason }) => `${rule}: ${reason}`).join('; ');
}

describe('the mesh of a new resource', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = new Fixture();
    await fixture.put(mesh('default'));
  });
  afterEach(() => fixture.end());

  const inShop = (name: string, more: JsonObject = {}): JsonObject => service(name, { namespace: 'shop', ...more });

  it.each([
    ['T003-22 absent', undefined, { team: 'a' }, 'default'],
    ['T003-22 empty', {}, {}, 'm'],
    ['T003-21 labels', team('a'), { team: 'a' }, 'm'],
    ['T003-21 other labels', team('a'), { team: 'b' }, 'default'],
    ['T003-21 two labels, one of which it has', { matchLabels: { team: 'a', x: 'y' } }, { team: 'a' }, 'default'],
    ['T003-22 In', { matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'b'] }] }, { team: 'b' }, 'm'],
    [
      'T003-22 NotIn',
      { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] },
      { team: 'a' },
      'default',
    ],
    ['T003-22 Exists', { matchExpressions: [{ key: 'team', operator: 'Exists' }] }, { team: '' }, 'm'],
    ['T003-22 DoesNotExist', { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, {}, 'm'],
    ['T003-24 a namespace that does not exist', team('a'), undefined, 'default'],
  ])('%s: selector %j, labels %j: %s', async (_, selector, labels, want) => {
    await fixture.put(mesh('m', selector));
    if (labels) await fixture.put(namespace('shop', labels));
    expect(await fixture.put(inShop('a'))).toBe(want);
    expect(await fixture.apply([inShop('b')])).toEqual([want]);
    expect(await fixture.put({ type: 'Dataplane', name: 'c', namespace: 'shop', ...dataplane })).toBe(want);
  });

  const overlap =
    'MeshMembershipConflict: found multiple matching meshes for namespace: shop, expecting 1 but found 2: a,b';

  it('T003-23 two selectors that select a namespace refuse its new resources only, naming both', async () => {
    await fixture.put(namespace('shop', { team: 'a', tier: 'web' }));
    await fixture.put(namespace('pay', { team: 'a' }));
    await fixture.put(mesh('b', { matchLabels: { tier: 'web' } }));
    expect(await fixture.put(inShop('before'))).toBe('b');
    expect(await fixture.put(mesh('a', team('a')))).toBe('');
    expect(await fixture.put(inShop('new'))).toBe(overlap);
    expect(await fixture.put(inShop('new', { mesh: 'a' }))).toBe(overlap);
    expect(await fixture.apply([inShop('new'), service('new', { namespace: 'pay' })])).toEqual([overlap, 'a']);
    expect(await fixture.put(inShop('before', { labels: { updated: 'yes' } }))).toBe('b');
    await fixture.put(namespace('shop', { team: 'a' }));
    expect(await fixture.put(inShop('new'))).toBe('a');
  });

  const node = (name: string, matchLabels: JsonObject): JsonObject => ({
    type: 'VirtualNode',
    name,
    namespace: 'shop',
    spec: { podSelector: { matchLabels }, listeners: [{ portMapping: { port: 80, protocol: 'http' } }] },
  });
  const member = (labels: JsonObject): JsonObject => ({
    type: 'Dataplane',
    name: 'pod',
    namespace: 'shop',
    labels,
    ...dataplane,
  });

  it('T003-32 a Dataplane that several VirtualNodes select is refused, naming them, until it is selected by one', async () => {
    await fixture.put(mesh('m', {}));
    await fixture.put(namespace('shop'));
    await fixture.put(namespace('other'));
    expect(await fixture.put(node('v1', { app: 'a' }))).toBe('m');
    expect(await fixture.put(node('v2', { tier: 'web' }))).toBe('m');
    const both = 'MembershipConflict: found multiple matching VirtualNodes for Dataplane shop/pod: shop/v1,shop/v2';
    expect(await fixture.put(member({ app: 'a', tier: 'web' }))).toBe(both);
    expect(await fixture.apply([member({ app: 'a', tier: 'web' })])).toEqual([both]);
    expect(await fixture.put(member({ app: 'a' }))).toBe('m');
    expect(await fixture.put(member({ app: 'a', tier: 'web' }))).toBe(both);
    expect(await fixture.put({ ...member({ app: 'a', tier: 'web' }), namespace: 'other' })).toBe('m');
    expect(await fixture.remove('VirtualNode', 'v2', { mesh: 'm', namespace: 'shop' })).toBe('deleted');
    expect(await fixture.put(node('v3', { app: 'b' }))).toBe('m');
    expect(await fixture.put(member({ app: 'a', tier: 'web' }))).toBe('m');
  });

  it('T003-32 the VirtualNodes of a batch count for the Dataplanes behind them', async () => {
    await fixture.put(mesh('m', {}));
    await fixture.put(namespace('shop'));
    const pod = member({ app: 'a', tier: 'web' });
    const both = 'MembershipConflict: found multiple matching VirtualNodes for Dataplane shop/pod: shop/v1,shop/v2';
    const [v1, v2] = [node('v1', { app: 'a' }), node('v2', { tier: 'web' })];
    expect(await fixture.apply([v1, v2, pod])).toEqual(['m', 'm', both]);
    expect(await fixture.apply([node('v2', { tier: 'db' }), pod])).toEqual(['m', 'm']);
    // As with a write of its own, one that stands before belongs to a node already and keeps it.
    expect(await fixture.apply([v2, pod])).toEqual(['m', 'm']);
    expect(await fixture.apply([{ ...pod, name: 'other' }, node('v3', { more: 'x' })])).toEqual([
      both.replace('shop/pod', 'shop/other'),
      'm',
    ]);
  });

  it('T003-33 a Dataplane that a second node began to select later can still be written', async () => {
    await fixture.put(mesh('m', {}));
    await fixture.put(namespace('shop'));
    await fixture.put(namespace('other'));
    expect(await fixture.put(node('v1', { app: 'a' }))).toBe('m');
    await fixture.put(member({ app: 'a', tier: 'web' }));
    expect(await fixture.put(node('v2', { tier: 'web' }))).toBe('m');
    expect(await fixture.put(member({ app: 'a', tier: 'web', more: 'labels' }))).toBe('m');
    expect(await fixture.put(member({ app: 'a' }))).toBe('m');
    expect(await fixture.put(member({ app: 'a', tier: 'web' }))).toContain('MembershipConflict');
  });

  it('T003-25 must be the one that document or path name', async () => {
    await fixture.put(namespace('shop', { team: 'a' }));
    await fixture.put(mesh('a', team('a')));
    const mismatch =
      'MeshMembershipMismatch: namespace "shop" belongs to mesh "a" by its namespaceSelector; got mesh "default"';
    const address = { kind: kindOf('MeshService'), namespace: 'shop', name: 'x' };
    expect(await fixture.put(inShop('x', { mesh: 'default' }))).toBe(mismatch);
    expect(await fixture.put(service('x'), { ...address, mesh: 'default' })).toMatch(mismatch);
    expect(await fixture.apply([inShop('x', { mesh: 'default' })])).toEqual([mismatch]);
    expect(await fixture.apply([inShop('x')], { mesh: 'default' })).toEqual([mismatch]);
    expect(await fixture.put(inShop('x', { mesh: 'a' }))).toBe('a');
    expect(await fixture.put(service('y'), { ...address, name: 'y', mesh: 'a' })).toBe('a');
  });

  it('T003-25 stays the one where it was made, also when its namespace goes to another mesh', async () => {
    await fixture.put(mesh('a', team('a')));
    await fixture.put(mesh('b', team('b')));
    await fixture.put(namespace('shop', { team: 'a' }));
    expect(await fixture.put(inShop('old'))).toBe('a');
    await fixture.put(namespace('shop', { team: 'b' }));
    const changed = (port: number): JsonObject => inShop('old', { labels: { port: `p${port}` } });
    expect(await fixture.put(changed(1))).toBe('a');
    expect(await fixture.put({ ...changed(2), mesh: 'a' })).toBe('a');
    expect(await fixture.apply([changed(3), inShop('new')])).toEqual(['a', 'b']);
    expect(await fixture.put(inShop('old', { mesh: 'b' }))).toBe('b');
    // Now it is in two meshes: its namespace decides.
    expect(await fixture.put(changed(4))).toBe('b');
  });

  it('T003-26 is another one in another control plane, for the same documents', async () => {
    const other = new Fixture();
    await other.put(mesh('default'));
    for (const [each, name] of [[fixture, 'shop-mesh'] as const, [other, 'all'] as const]) {
      await each.put(mesh(name, team('a')));
      expect(await each.apply([namespace('shop', { team: 'a' }), inShop('x')])).toEqual(['', name]);
    }
    await other.end();
  });

  it('T003-27 is not one that is being terminated, until its label is taken back', async () => {
    await fixture.put(namespace('shop', { team: 'a' }));
    await fixture.put(mesh('a', team('a')));
    expect(await fixture.put(inShop('x'))).toBe('a');
    await fixture.put(mesh('a', team('a'), { 'causeway.io/terminating': 'true' }));
    const refused = 'MeshTerminating: unable to create new content in mesh a because it is being terminated';
    expect(await fixture.put(inShop('y', { mesh: 'a' }))).toBe(refused);
    expect(await fixture.apply([inShop('y', { mesh: 'a' })])).toEqual([refused]);
    expect(await fixture.put({ type: 'Secret', mesh: 'a', name: 's', data: 'dGVzdA==' })).toBe(refused);
    expect(await fixture.put(inShop('x', { labels: { a: 'b' } }))).toBe('a');
    expect(await fixture.put(inShop('y'))).toBe('default');
    await fixture.put(mesh('a', team('a')));
    expect(await fixture.put(inShop('z'))).toBe('a');
  });

  it('T003-29 is chosen by namespaces only: no selector of resources, no list of selectors', async () => {
    const refused = await Promise.all([
      fixture.put({ type: 'Mesh', name: 'm', spec: { resourceSelector: team('a') } }),
      fixture.put({ type: 'Mesh', name: 'm', spec: { namespaceSelector: [team('a')] } }),
    ]);
    expect(refused).toEqual([expect.stringMatching(/^unknown-field/), expect.stringMatching(/^wrong-type/)]);
  });

  it('T003-21 is said by a dry run, and decides who may', async () => {
    await fixture.put(namespace('shop', { team: 'a' }));
    await fixture.put(mesh('a', team('a')));
    const context = { caller: localAdmin };
    expect(await fixture.admission.put({ body: inShop('x'), dryRun: true, context })).toMatchObject({
      id: { mesh: 'a' },
    });
    expect(await fixture.apply([inShop('x')], { dryRun: true })).toEqual(['a']);
    const subjects = [{ kind: 'User', name: 'anna' }];
    await fixture.put({ type: 'RoleBinding', name: 'b', spec: { role: 'service-owner', subjects, meshes: ['a'] } });
    expect(await fixture.put(inShop('x'), undefined, anna)).toBe('a');
    expect(await fixture.put(service('x', { namespace: 'pay' }), undefined, anna)).toContain('of mesh "default"');
  });

  it('follows the order of a batch: Meshes and Namespaces count for the documents behind them', async () => {
    expect(
      await fixture.apply([
        inShop('before'),
        mesh('a', team('a')),
        namespace('shop', { team: 'a' }),
        inShop('after'),
        inShop('named', { mesh: 'a' }),
        namespace('pay', { team: 'b' }),
        service('x', { namespace: 'pay' }),
        { ...mesh('bad', team('b')), name: 'Bad Name' },
        service('y', { namespace: 'pay' }),
        mesh('default', {}),
        inShop('late'),
      ]),
    ).toEqual([
      'default',
      '',
      '',
      'a',
      'a',
      '',
      'default',
      expect.stringMatching(/name|invalid/i),
      'default',
      '',
      'MeshMembershipConflict: found multiple matching meshes for namespace: shop, expecting 1 but found 2: a,default',
    ]);
  });

  it('of two documents of a batch is found to be the same: both are refused', async () => {
    await fixture.put(mesh('a', team('a')));
    await fixture.put(namespace('shop', { team: 'a' }));
    const twice = /^not-unique: MeshService x stands in the batch twice, at document 1 and at document 2/;
    for (const second of [inShop('x'), inShop('x', { mesh: 'a' })])
      expect(await fixture.apply([inShop('x'), second])).toEqual([expect.stringMatching(twice), expect.any(String)]);
  });

  it.each([
    ['namespace is relabelled', namespace('shop', { team: 'b' }), 'b'],
    ['mesh gives up its namespaces', mesh('a'), 'default'],
    ['mesh begins to terminate', mesh('a', team('a'), { 'causeway.io/terminating': 'true' }), 'default'],
    ['namespace gets a second mesh', mesh('c', {}), /^MeshMembershipConflict/],
  ])('is designated again when its %s between the decision and the write', async (_, change, want) => {
    await fixture.put(mesh('a', team('a')));
    await fixture.put(mesh('b', team('b')));
    for (const write of [
      () => fixture.put(inShop('x')),
      async () => (await fixture.apply([inShop('y')]))[0],
      async () => (await fixture.apply([inShop('z')], { atomic: true }))[0],
    ]) {
      await fixture.put(mesh('a', team('a')));
      await fixture.put(namespace('shop', { team: 'a' }));
      if (await fixture.store.get(globalIdentity('Mesh', 'c'))) await fixture.remove('Mesh', 'c');
      fixture.store.interrupt = () => fixture.put(change);
      expect(await write()).toEqual(typeof want === 'string' ? want : expect.stringMatching(want));
    }
  });
});

const dataplane = {
  networking: { address: '10.0.0.1', inbound: [{ port: 80, tags: { 'kuma.io/service': 'web' } }] },
};

describe('deleting a Mesh', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = new Fixture();
    await fixture.put(mesh('default'));
    await fixture.put(mesh('m'));
  });
  afterEach(() => fixture.end());

  const meshId: Identity = globalIdentity('Mesh', 'm');
  const inUse = 'InUse: objects belong to this mesh exists, please delete them to proceed. ';

  it('T003-28 is refused with the counts of its members, and changes nothing', async () => {
    for (const name of ['a', 'b']) await fixture.put(service(name, { mesh: 'm' }));
    await fixture.put({ type: 'Dataplane', mesh: 'm', name: 'd', ...dataplane });
    await fixture.put(service('other'));
    const before = await fixture.store.get(meshId);
    expect(await fixture.remove('Mesh', 'm')).toBe(`${inUse}MeshService: 2, Dataplane: 1`);
    expect(await fixture.store.get(meshId)).toEqual(before);
    for (const name of ['a', 'b']) await fixture.remove('MeshService', name, { mesh: 'm' });
    expect(await fixture.remove('Mesh', 'm')).toBe(`${inUse}Dataplane: 1`);
    await fixture.remove('Dataplane', 'd', { mesh: 'm' });
    expect(await fixture.remove('Mesh', 'm')).toBe('deleted');
  });

  const ending = '; the mesh is being terminated and takes no new members';

  it('T003-27 T003-28 with terminate it takes no new members, and goes when it is empty', async () => {
    await fixture.put(service('a', { mesh: 'm' }));
    expect(await fixture.remove('Mesh', 'm', { terminate: true })).toBe(`${inUse}MeshService: 1${ending}`);
    expect(await fixture.store.get(meshId)).toMatchObject({ labels: { 'causeway.io/terminating': 'true' } });
    const revision = (await fixture.store.head()).revision;
    expect(await fixture.remove('Mesh', 'm', { terminate: true })).toBe(`${inUse}MeshService: 1${ending}`);
    expect((await fixture.store.head()).revision).toBe(revision);
    expect(await fixture.put(service('b', { mesh: 'm' }))).toContain('it is being terminated');
    await fixture.remove('MeshService', 'a', { mesh: 'm' });
    expect(await fixture.remove('Mesh', 'm', { terminate: true })).toBe('deleted');
  });

  it('T000-24 also of the expected one, when it is empty; it is assumed from then on', async () => {
    await fixture.put(service('a'));
    expect(await fixture.remove('Mesh', 'default')).toBe(`${inUse}MeshService: 1`);
    await fixture.remove('MeshService', 'a');
    expect(await fixture.remove('Mesh', 'default')).toBe('deleted');
    expect(await fixture.put(service('a'))).toBe('default');
  });

  it('T003-28 is refused when a member was made between the look and the deletion', async () => {
    fixture.store.interrupt = () => fixture.put(service('late', { mesh: 'm' }));
    expect(await fixture.remove('Mesh', 'm')).toBe(`${inUse}MeshService: 1`);
  });

  it('a member is refused when the Mesh was deleted between the look and the write', async () => {
    fixture.store.interrupt = () => fixture.remove('Mesh', 'm');
    expect(await fixture.put(service('late', { mesh: 'm' }))).toBe('invalid: there is no mesh "m"');
    expect(await fixture.store.get(meshId)).toBeUndefined();
  });
});
