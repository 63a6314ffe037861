import { setMaxListeners } from 'node:events';
import { AccessDenied, AccessPolicy, type Caller } from '@causeway/access';
import { coreKinds } from '@causeway/kinds';
import { getRegistry } from '@causeway/meshes';
import { wireName } from '@causeway/naming';
import { AccessPolicy as CallerRules, shippedDefinition, shippedDefinitionName } from '@causeway/policies';
import { globalIdentity, type ControlPlane, type Identity, type JsonObject, type Kind } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { followStore, ResourceIndex } from '@causeway/store';
import { MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { Admission } from './admission';
import type { WriteAddress } from './requests';
import { meshesOf } from '../../../test/support/meshes';

const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };
const anna: Caller = { user: 'anna', groups: ['shop'], by: 'user-token' };

function kindOf(name: string): Kind {
  const kind = coreKinds.kind(name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}

const service = (namespace?: string, port = 80): JsonObject => ({
  type: 'MeshService',
  name: 'redis',
  ...(namespace === undefined ? {} : { namespace }),
  spec: { selector: { dataplaneRef: { name: 'a' } }, ports: [{ port }] },
});
const redis = (namespace?: string): WriteAddress => ({
  kind: kindOf('MeshService'),
  name: 'redis',
  ...(namespace === undefined ? {} : { namespace }),
});
const redisId = (namespace: string, zone = 'east'): Identity => ({
  kind: 'MeshService',
  mesh: 'default',
  zone,
  namespace,
  name: 'redis',
});

const ended = new AbortController();
setMaxListeners(100, ended.signal);
afterAll(() => ended.abort());

/** Admission over a store whose index follows it. */
class Fixture {
  readonly store = new MemoryStore(new MemoryDisk({ clock: new FakeClock(1_000) }));
  readonly index = new ResourceIndex();
  readonly registry = getRegistry(this.index);
  readonly admission: Admission;

  constructor(controlPlane: ControlPlane) {
    const { store, index, registry } = this;
    const access = new AccessPolicy({ registry, index, cp: controlPlane });
    this.admission = new Admission({
      registry,
      store,
      index,
      meshes: meshesOf(index),
      controlPlane,
      access,
      clock: new FakeClock(1_000),
    });
    void followStore(store, index, { clock: systemClock, logger: silentLogger, signal: ended.signal });
  }

  /** A mesh `default`, redis in the namespaces `shop` and `pay`, and a role that anna has. */
  static async open(role: JsonObject | string, narrowed: JsonObject = {}, cp = east): Promise<Fixture> {
    const fixture = new Fixture(cp);
    await fixture.hold(globalIdentity('Mesh', 'default'), {});
    for (const namespace of ['shop', 'pay'])
      await fixture.hold(redisId(namespace), { ports: [{ port: 1 }] }, { 'kuma.io/zone': 'east' });
    if (typeof role === 'object') await fixture.hold(globalIdentity('Role', 'own'), { rules: [role] });
    const subjects = [{ kind: 'User', name: 'anna' }];
    const spec = { role: typeof role === 'string' ? role : 'own', subjects, ...narrowed };
    await fixture.hold(globalIdentity('RoleBinding', 'b'), spec);
    return fixture;
  }

  async hold(id: Identity, spec: JsonObject, labels: Record<string, string> = {}): Promise<void> {
    await this.store.write({ changes: [{ type: 'put', id, expect: 'any', labels, spec }], onRefusal: 'abort' });
    await this.index.reached((await this.store.head()).revision);
  }

  async put(body: JsonObject, address?: WriteAddress, ifMatch?: string): Promise<string> {
    const more = { ...(address ? { address } : {}), ...(ifMatch === undefined ? {} : { ifMatch }) };
    return said(this.admission.put({ body, context: { caller: anna }, ...more }));
  }

  patch(address: WriteAddress): Promise<string> {
    return said(this.admission.patch({ patch: { labels: { a: 'b' } }, address, context: { caller: anna } }));
  }

  remove(address: WriteAddress): Promise<string> {
    return said(this.admission.delete({ address, context: { caller: anna } }));
  }
}

/** Returns the outcome of a write, or the message of its refusal. */
function said(write: Promise<{ readonly outcome: string }>): Promise<string> {
  return write.then(
    ({ outcome }) => outcome,
    (error: unknown) => (error instanceof AccessDenied ? `denied: ${error.message}` : String(error)),
  );
}

/** A policy on who may call, of the namespace `shop`. */
const callers = (kind: string, name: string): JsonObject => ({
  type: CallerRules.kind,
  name: 'callers',
  namespace: 'shop',
  spec: { targetRefs: [{ kind, name }], allow: {} },
});
const callersId: Identity = {
  kind: CallerRules.kind,
  mesh: 'default',
  zone: 'east',
  namespace: 'shop',
  name: 'callers',
};

const WRITES = ['create', 'update', 'delete'];
const MAY_NOT = 'denied: no RoleBinding lets user "anna"';

describe('who may write', () => {
  it.each([
    ['create', [/^created$/, /^denied/, /^denied/, /^denied/]],
    ['update', [/^denied/, /^updated$/, /^updated$/, /^denied/]],
    ['delete', [/^denied/, /^denied/, /^denied/, /^deleted$/]],
    ['get', [/^denied/, /^denied/, /^denied/, /^denied/]],
  ])('the verb %s allows what it says', async (verb, [creates, updates, patches, deletes]) => {
    const fixture = await Fixture.open({ verbs: [verb], kinds: ['MeshService'] });
    expect(await fixture.put(service(), redis('default'))).toMatch(creates ?? '');
    expect(await fixture.put(service('shop'), redis('shop'))).toMatch(updates ?? '');
    expect(await fixture.patch(redis('shop'))).toMatch(patches ?? '');
    expect(await fixture.remove(redis('shop'))).toMatch(deletes ?? '');
  });

  it('is said with verb, kind and place', async () => {
    const fixture = await Fixture.open('viewer');
    const place = 'MeshService in namespace "shop" of mesh "default"';
    expect(await fixture.put(service('shop'), redis('shop'))).toBe(`${MAY_NOT} create or update ${place}`);
    expect(await fixture.put(service('shop'))).toBe(`${MAY_NOT} create or update ${place}`);
    expect(await fixture.patch(redis('shop'))).toBe(`${MAY_NOT} update ${place}`);
    expect(await fixture.remove(redis('shop'))).toBe(`${MAY_NOT} delete ${place}`);
  });

  it('is decided by the namespace of the address, and of the document where the address has none', async () => {
    const fixture = await Fixture.open('service-owner', { namespaces: ['shop'] });
    expect(await fixture.put(service('shop'), redis())).toBe('updated');
    expect(await fixture.put(service('shop', 81))).toBe('updated');
    expect(await fixture.put(service('pay'), redis())).toMatch(/^denied/);
    expect(await fixture.put(service('pay'))).toMatch(/^denied/);
    expect(await fixture.put(service(), redis())).toMatch(/^denied: .* in namespace "default"/);
    expect(await fixture.put(service('pay'), redis('pay'))).toMatch(/^denied/);
    expect(await fixture.put(service('pay'), redis('shop'))).toMatch(/^Invalid: .*namespace/);
    expect(await fixture.put({ ...service(), labels: { 'k8s.kuma.io/namespace': 'pay' } })).toMatch(/^denied/);
  });

  it('of a policy on the whole mesh is decided by the right to change the Mesh, for its deletion too', async () => {
    const mesh = 'denied: no RoleBinding lets user "anna" update Mesh in mesh "default"';
    for (const [role, denied] of [
      ['service-owner', true],
      ['mesh-operator', false],
    ] as const) {
      const fixture = await Fixture.open(role);
      const definition = globalIdentity('MetaresourceDefinition', shippedDefinitionName(CallerRules));
      await fixture.hold(definition, shippedDefinition(CallerRules));
      expect(await fixture.put(callers('Mesh', 'default'))).toMatch(denied ? new RegExp(`^${mesh}`) : /^created$/);
      const held = callers('Mesh', 'default')['spec'] as JsonObject;
      await fixture.hold(callersId, held, { 'kuma.io/zone': 'east', 'kuma.io/origin': 'zone' });
      const kind = fixture.registry.kind(CallerRules.kind);
      if (!kind) throw new Error('the definition declares no kind');
      const address = { kind, name: 'callers', namespace: 'shop' };
      // Neither by turning it to something else, nor by a patch.
      expect(await fixture.put(callers('Namespace', 'shop'), address)).toMatch(denied ? /^denied/ : /^updated$/);
      await fixture.hold(callersId, held, { 'kuma.io/zone': 'east', 'kuma.io/origin': 'zone' });
      expect(await fixture.patch(address)).toMatch(denied ? /^denied/ : /^updated$/);
      expect(await fixture.remove(address)).toMatch(denied ? /^denied/ : /^deleted$/);
      expect(await fixture.put(callers('Namespace', 'shop'), address)).toMatch(denied ? /^denied/ : /^created$/);
    }
    const owner = await Fixture.open('service-owner', { namespaces: ['shop'] });
    const definition = globalIdentity('MetaresourceDefinition', shippedDefinitionName(CallerRules));
    await owner.hold(definition, shippedDefinition(CallerRules));
    expect(await owner.put(callers('Namespace', 'shop'))).toBe('created');
  });

  it('says the same of what exists and what does not', async () => {
    const fixture = await Fixture.open('service-owner', { namespaces: ['shop'] });
    await fixture.hold(redisId('pay', 'west'), {}, { 'kuma.io/zone': 'west' });
    const both = async (write: (address: WriteAddress) => Promise<string>, more: Partial<WriteAddress> = {}) => {
      const there = await write({ ...redis('pay'), ...more });
      const absent = await write({ ...redis('gone'), ...more });
      return [there, absent.replace('"gone"', '"pay"')];
    };
    for (const more of [{}, { zone: 'west' }]) {
      const [put, puts] = await both((address) => fixture.put(service(address.namespace), address), more);
      const [remove, removes] = await both((address) => fixture.remove(address), more);
      const [patch, patches] = await both((address) => fixture.patch(address), more);
      expect([put, remove, patch]).toEqual([puts, removes, patches]);
      for (const text of [put, remove, patch]) expect(text).toMatch(/^denied/);
    }
    expect(await fixture.put(service('pay'), redis('pay'), '"x.1"')).toMatch(/^denied/);
    const mesh = (name: string): WriteAddress => ({ ...redis('pay'), mesh: name });
    expect(await fixture.remove(mesh('none'))).toBe((await fixture.remove(mesh('default'))).replace('default', 'none'));
  });

  it('tells nothing of other namespaces when a name is not found', async () => {
    const fixture = await Fixture.open('service-owner', { namespaces: ['shop', 'new'] });
    const message = await fixture.remove(redis('new'));
    expect(message).toContain('this name exists with zone=east&namespace=shop');
    expect(message).not.toContain('pay');
  });

  it('counts for a name of the wire by the namespace of what has it', async () => {
    const fixture = await Fixture.open('service-owner', { namespaces: ['shop'] });
    const wired = (namespace: string): WriteAddress => {
      const labels = { 'kuma.io/zone': 'east', 'k8s.kuma.io/namespace': namespace };
      return { ...redis(), name: wireName({ kind: 'MeshService', mesh: 'default', name: 'redis', labels }) };
    };
    for (const namespace of ['shop', 'pay']) {
      const labels = { 'kuma.io/zone': 'east', 'k8s.kuma.io/namespace': namespace };
      await fixture.hold(redisId(namespace), { ports: [{ port: 1 }] }, labels);
    }
    expect(await fixture.patch(wired('shop'))).toBe('updated');
    expect(await fixture.remove(wired('shop'))).toBe('deleted');
    const denied = await fixture.remove(wired('pay'));
    expect(denied).toBe(`${MAY_NOT} delete MeshService in namespace "default" of mesh "default"`);
  });

  it('T001-11 T003-02 hostnames and meshes are for mesh operators only, everything else of services for their owners', async () => {
    const generator = {
      type: 'HostnameGenerator',
      name: 'g',
      spec: { selector: { meshService: {} }, template: 'a.b' },
    };
    const mesh = { type: 'Mesh', name: 'm2' };
    const cp: ControlPlane = { role: 'global' };
    const outcomes = async (role: string): Promise<string[]> => {
      const fixture = await Fixture.open(role, {}, cp);
      return Promise.all([fixture.put(generator), fixture.put(mesh)]);
    };
    expect(await outcomes('service-owner')).toEqual([
      `${MAY_NOT} create or update HostnameGenerator`,
      `${MAY_NOT} create or update Mesh in mesh "m2"`,
    ]);
    expect(await outcomes('mesh-operator')).toEqual(['created', 'created']);
    const owner = await Fixture.open('service-owner');
    expect([await owner.put(generator), await owner.put(service('shop'))]).toEqual([
      `${MAY_NOT} create or update HostnameGenerator`,
      'updated',
    ]);
  });

  it('is judged for each document of a batch', async () => {
    const fixture = await Fixture.open({ verbs: WRITES, kinds: ['MeshService'], namespaces: ['shop'] });
    const documents = [service('shop'), service('pay'), { type: 'Secret', name: 's', spec: { data: 'b2xk' } }];
    const applied = fixture.admission.apply({
      documents: documents.map((body) => ({ body })),
      context: { caller: anna },
    });
    expect((await applied).results).toMatchObject([
      { outcome: 'updated' },
      { outcome: 'refused', error: { type: 'Forbidden' } },
      {
        outcome: 'refused',
        error: { message: 'no RoleBinding lets user "anna" create or update Secret in mesh "default"' },
      },
    ]);
  });

  it('refuses what a batch puts into a mesh that the caller may not create', async () => {
    const rule = { verbs: ['update', 'create'], kinds: ['MeshService'] };
    const fixture = await Fixture.open(rule, {}, { role: 'zone', zone: 'east', federated: false });
    await fixture.hold(globalIdentity('Role', 'own'), { rules: [rule, { verbs: ['update'], kinds: ['Mesh'] }] });
    const documents = [
      { type: 'Mesh', name: 'new' },
      { ...service('shop'), mesh: 'new' },
    ];
    const { results } = await fixture.admission.apply({
      documents: documents.map((body) => ({ body })),
      context: { caller: anna },
    });
    expect(results).toMatchObject([
      { outcome: 'refused', error: expect.any(AccessDenied) },
      { outcome: 'refused', error: { violations: [{ field: 'mesh', reason: 'there is no mesh "new"' }] } },
    ]);
  });

  it('lets nobody but administrators write roles, bindings and secrets', async () => {
    const fixture = await Fixture.open({ verbs: ['*'], kinds: ['*'] });
    const binding = {
      type: 'RoleBinding',
      name: 'mine',
      spec: { role: 'admin', subjects: [{ kind: 'User', name: 'anna' }] },
    };
    const role = { type: 'Role', name: 'mine', spec: { rules: [{ verbs: ['*'], kinds: ['*'] }] } };
    const secret = { type: 'Secret', name: 's', spec: { data: 'b2xk' } };
    for (const body of [binding, role, secret]) expect(await fixture.put(body)).toMatch(/^denied/);
    expect(await fixture.remove({ kind: kindOf('RoleBinding'), name: 'b' })).toMatch(/^denied/);
  });
});
