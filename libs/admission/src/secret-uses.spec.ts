import { setMaxListeners } from 'node:events';
import { AccessPolicy, ADMINS, type Caller } from '@causeway/access';
import { getRegistry } from '@causeway/meshes';
import { globalIdentity, Invalid, type ControlPlane, type Identity, type JsonObject } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { followStore, ResourceIndex } from '@causeway/store';
import { MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { meshesOf } from '../../../test/support/meshes';
import { Admission } from './admission';

const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };
const anna: Caller = { user: 'anna', groups: [], by: 'user-token' };
const root: Caller = { user: 'root', groups: [ADMINS], by: 'user-token' };
const ended = new AbortController();
setMaxListeners(100, ended.signal);
afterAll(() => ended.abort());

const inMesh = (kind: string, name: string, zone = ''): Identity => ({
  kind,
  mesh: 'default',
  zone,
  namespace: '',
  name,
});
const caCert = { secret: 'ca' };
const service = (verification: JsonObject, name = 'api'): JsonObject => ({
  type: 'MeshExternalService',
  mesh: 'default',
  name,
  spec: {
    match: { port: 443 },
    endpoints: [{ address: '192.0.2.1', port: 443 }],
    tls: { enabled: true, verification },
  },
});
const usedBy = (...names: readonly string[]): JsonObject => ({
  data: 'Y2E=',
  usedBy: names.map((name) => ({ kind: 'MeshExternalService', name })),
});
const secret = (spec: JsonObject): JsonObject => ({ type: 'Secret', mesh: 'default', name: 'ca', ...spec });

/** Admission in zone east, where anna is a service owner. */
class Fixture {
  readonly store = new MemoryStore(new MemoryDisk({ clock: new FakeClock(1_000) }));
  private readonly index = new ResourceIndex();
  private readonly admission: Admission;

  private constructor(controlPlane: ControlPlane) {
    const { store, index } = this;
    const registry = getRegistry(index);
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

  static async open(cp = east, role = 'service-owner'): Promise<Fixture> {
    const fixture = new Fixture(cp);
    await fixture.hold(globalIdentity('Mesh', 'default'), {});
    const subjects = [{ kind: 'User', name: 'anna' }];
    await fixture.hold(globalIdentity('RoleBinding', 'b'), { role, subjects });
    return fixture;
  }

  async hold(id: Identity, spec: JsonObject): Promise<void> {
    const labels = id.zone === '' ? {} : { 'kuma.io/zone': id.zone, 'kuma.io/origin': 'zone' };
    await this.store.write({ changes: [{ type: 'put', id, expect: 'any', labels, spec }], onRefusal: 'abort' });
    await this.index.reached((await this.store.head()).revision);
  }

  /** Returns the outcome and the warnings, or the message of the refusal. */
  put(body: JsonObject, caller = anna): Promise<string> {
    return this.admission.put({ body, context: { caller } }).then(
      ({ outcome, warnings }) => [outcome, ...warnings].join(': '),
      (error: unknown) => (error instanceof Invalid ? JSON.stringify(error.violations) : String(error)),
    );
  }

  /** As `put`, for the documents of one batch. */
  async apply(documents: readonly JsonObject[], caller = root): Promise<readonly string[]> {
    const sent = { documents: documents.map((body) => ({ body })), atomic: true, context: { caller } };
    const { results } = await this.admission.apply(sent);
    return results.map((result) => JSON.stringify(result));
  }

  async specOf(id: Identity): Promise<JsonObject | undefined> {
    return (await this.store.get(id))?.spec;
  }
}

const REFUSED =
  'Forbidden: spec.tls.verification.caCert.secret: no Secret "ca" lists MeshExternalService "api" in spec.usedBy; an administrator ' +
  'can add {"kind":"MeshExternalService","name":"api","zone":"east"}';

describe('a document that names a Secret', () => {
  it.each<[string, JsonObject | undefined]>([
    ['there is none', undefined],
    ['it lists nobody', { data: 'Y2E=' }],
    ['it lists another one', usedBy('mail')],
  ])('is refused to who may not read the Secret, in the same words, where %s', async (_, spec) => {
    const fixture = await Fixture.open();
    if (spec) await fixture.hold(inMesh('Secret', 'ca'), spec);
    expect(await fixture.put(service({ caCert }))).toBe(REFUSED);
    const typed = { type: 'Secret', secretRef: { kind: 'Secret', name: 'ca' } };
    expect(await fixture.put(service({ caCert: typed }))).toMatch(
      /^Forbidden: .*caCert.secretRef.name: no Secret "ca"/,
    );
    expect(await fixture.put(service({ caCert: { inlineString: 'x' } }))).toBe('created');
    expect(await fixture.put(service({ caCert }))).toBe(REFUSED);
  });

  it.each(['', 'east'])('is taken where the Secret lists it (zone "%s")', async (zone) => {
    const fixture = await Fixture.open();
    await fixture.hold(inMesh('Secret', 'ca', zone), usedBy('api'));
    expect(await fixture.put(service({ caCert }))).toBe('created');
    expect(await fixture.put(service({ caCert }, 'mail'))).toMatch(/^Forbidden/);
  });

  it('is taken from who may read the Secret, with a warning that says what is missing', async () => {
    const fixture = await Fixture.open();
    await fixture.hold(inMesh('Secret', 'ca'), { data: 'Y2E=' });
    expect(await fixture.put(service({ caCert }), root)).toBe(
      'created: spec.tls.verification.caCert.secret: no Secret "ca" lists MeshExternalService "api" in spec.usedBy: the Secret is not given to ' +
        'it, and nothing that needs the Secret is served; add {"kind":"MeshExternalService","name":"api","zone":"east"}',
    );
  });

  it('sees the Secrets of its own batch', async () => {
    const fixture = await Fixture.open();
    const results = await fixture.apply([secret(usedBy('api')), service({ caCert })]);
    expect(results.join()).not.toContain('usedBy');
    expect(results[1]).toContain('created');
  });

  it('is asked of a MeshIdentity too', async () => {
    const fixture = await Fixture.open(east, 'mesh-operator');
    const from = (name: string): JsonObject => ({ type: 'Secret', secretRef: { kind: 'Secret', name } });
    const body: JsonObject = {
      type: 'MeshIdentity',
      mesh: 'default',
      name: 'own',
      spec: {
        selector: { dataplane: { matchLabels: {} } },
        provider: { type: 'Bundled', bundled: { ca: { certificate: from('ca'), privateKey: from('ca') } } },
      },
    };
    expect(await fixture.put(body)).toMatch(/^Forbidden: spec.provider.bundled.ca.certificate.secretRef.name/);
    await fixture.hold(inMesh('Secret', 'ca'), { data: 'Y2E=', usedBy: [{ kind: 'MeshIdentity', name: 'own' }] });
    expect(await fixture.put(body)).toBe('created');
  });
});

describe('a client key', () => {
  const inline = { clientCert: { inlineString: 'c' }, clientKey: { inlineString: 'k' } };
  const RULE = /clientKey","reason":"needs a ZoneEgress in this zone: a private key is given to egresses only/;

  it('is refused in a zone without an egress, and taken with one', async () => {
    const fixture = await Fixture.open();
    expect(await fixture.put(service(inline), root)).toMatch(RULE);
    await fixture.hold({ ...inMesh('ZoneEgress', 'out', 'west'), mesh: '' }, {});
    expect(await fixture.put(service(inline), root)).toMatch(RULE);
    await fixture.hold({ ...inMesh('ZoneEgress', 'out', 'east'), mesh: '' }, {});
    expect(await fixture.put(service(inline), root)).toBe('created');
  });

  it('that is stored already may stay, with a warning; another one may not come', async () => {
    const fixture = await Fixture.open();
    const spec = { match: { port: 443 }, tls: { enabled: true, verification: inline } };
    await fixture.hold(inMesh('MeshExternalService', 'api', 'east'), spec);
    expect(await fixture.put(service({ ...inline, serverName: 'api.example' }))).toMatch(
      /^updated: .*needs a ZoneEgress/,
    );
    expect(await fixture.put(service({ ...inline, clientKey: { secret: 'ca' } }), root)).toMatch(RULE);
  });

  it('is taken by the global where some zone has an egress, with the names of the zones that have none', async () => {
    const fixture = await Fixture.open({ role: 'global' });
    for (const zone of ['east', 'west']) await fixture.hold(globalIdentity('Zone', zone), {});
    expect(await fixture.put(service(inline), root)).toMatch(/needs a ZoneEgress in each zone/);
    await fixture.hold({ ...inMesh('ZoneEgress', 'out', 'east'), mesh: '' }, {});
    expect(await fixture.put(service(inline), root)).toMatch(/^created: .*; there is none in west$/);
  });
});

describe('the users of a Secret', () => {
  it('stay where a document replaces the value without naming any, and go where it names none', async () => {
    const fixture = await Fixture.open();
    const id = inMesh('Secret', 'ca', 'east');
    expect(await fixture.put(secret(usedBy('api')), root)).toBe('created');
    expect(await fixture.put(secret({ data: 'bmV3' }), root)).toBe('updated');
    expect(await fixture.specOf(id)).toEqual({ ...usedBy('api'), data: 'bmV3' });
    expect(await fixture.put(secret({ data: 'bmV3', usedBy: [] }), root)).toBe('updated');
    expect(await fixture.specOf(id)).toEqual({ data: 'bmV3', usedBy: [] });
  });

  it('are written by administrators only', async () => {
    const fixture = await Fixture.open(east, 'mesh-operator');
    expect(await fixture.put(secret(usedBy('api')))).toMatch(/^AccessDenied|no RoleBinding lets/);
  });
});
