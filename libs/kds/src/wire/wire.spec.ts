import fc from 'fast-check';
import { Any, Dataplane, DeltaDiscoveryResponse, DiscoveryResource, KumaResource, Secret } from '@causeway/proto-gen';
import { isJsonObject, type JsonObject, type Resource } from '@causeway/resources';
import { toCopy } from './copy';
import { computeDialect, KUMA_DIALECT, sharedExtensions, type Dialect } from './dialect';
import { CAUSEWAY_DIALECT, KUMA_3_DIALECT } from '../../testing/dialects';
import type { DecodedResource } from './resource-decoder';
import {
  CREATION_ORDER_LABEL,
  formatWireKey,
  parseWireKey,
  toWireResource,
  getWireKey,
  type WireResource,
} from './wire-resource';
import { KUMA_RESOURCE_URL, ResourceEncoder, type EncodedWireResource } from './resource-encoder';
import { encodeResponse, type StatePosition } from './response';
import { decodeResponse } from '../../testing/decode-response';

const GLOBAL = { role: 'global' } as const;
const EAST = { role: 'zone', zone: 'east', federated: true } as const;
const SERVICE_KIND = {
  scope: 'mesh',
  namespaced: true,
  sync: {
    name: 'x',
    writtenOn: [],
    standalone: false,
    down: 'everything',
    up: true,
    requiredToSend: [],
    zoneInIdentity: true,
    peers: 'all',
  },
} as const;

const redis: Resource = {
  id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis' },
  uid: '6a4cf5a0-0000-4000-8000-000000000001',
  labels: {
    'kuma.io/display-name': 'redis',
    'kuma.io/mesh': 'default',
    'kuma.io/zone': 'east',
    'kuma.io/origin': 'zone',
    'kuma.io/env': 'universal',
  },
  spec: { selector: { dataplaneTags: { a: 'b' } }, ports: [{ port: 6379 }] },
  status: { vip: { ip: '241.0.0.1', type: 'Kuma' } },
  generation: 3,
  creationOrder: 1_763_705_000_000_001,
  createdAt: 1_763_705_000_000,
  modifiedAt: 1_763_705_000_000,
  revision: 12,
  origin: { incarnation: 'incarnation-1', revision: 7, committedAt: 1_763_705_000_123 },
  freed: [],
};

describe('a resource on its way', () => {
  it('down: loses its status, has the label of its origin', () => {
    const { status, labels, name } = toWireResource(redis, GLOBAL, KUMA_DIALECT);
    expect({ status, origin: labels['kuma.io/origin'], zone: labels['kuma.io/zone'] }).toEqual({
      status: undefined,
      origin: 'global',
      zone: 'east',
    });
    expect(name).toMatch(/^redis-[a-z0-9]{16}$/);
  });

  it('up: keeps its status, and has its creation order in a label for Kuma', () => {
    expect(toWireResource(redis, EAST, KUMA_DIALECT)).toMatchObject({
      status: redis.status,
      labels: { 'kuma.io/origin': 'zone', 'kuma.io/zone': 'east', [CREATION_ORDER_LABEL]: '1763705000000001' },
    });
    expect(toWireResource(redis, EAST, CAUSEWAY_DIALECT).labels).not.toHaveProperty(CREATION_ORDER_LABEL);
  });

  it('has one name on every hop, also for its removal', () => {
    const up = toWireResource(redis, EAST, KUMA_DIALECT);
    const held = { id: redis.id, labels: up.labels };
    const names = [
      up.name,
      getWireKey(redis).name,
      getWireKey(held).name,
      toWireResource(redis, GLOBAL, CAUSEWAY_DIALECT).name,
    ];
    expect(new Set(names).size).toBe(1);
  });

  it('gets a display name where it has none, but not where its name is kept', () => {
    const bare = { ...redis, labels: {} };
    expect(toWireResource(bare, GLOBAL, KUMA_DIALECT).labels['kuma.io/display-name']).toBe('redis');
    expect(toWireResource({ ...bare, id: { ...redis.id, kind: 'Secret' } }, GLOBAL, KUMA_DIALECT).labels).toEqual({
      'kuma.io/origin': 'global',
    });
  });

  it('is encoded once for each dialect', () => {
    const encoder = new ResourceEncoder(GLOBAL);
    expect(encoder.encode(redis, KUMA_DIALECT)).toBe(encoder.encode(redis, { ...KUMA_DIALECT }));
    expect(encoder.encode(redis, CAUSEWAY_DIALECT)).not.toBe(encoder.encode(redis, KUMA_DIALECT));
  });

  it('is the same on the wire when only its status or its row changed', () => {
    const encoder = new ResourceEncoder(GLOBAL);
    const changed: Resource = { ...redis, revision: 99, status: {} };
    expect(encoder.encode(changed, CAUSEWAY_DIALECT)).toEqual(encoder.encode(redis, CAUSEWAY_DIALECT));
  });

  describe('because of a change that is traced', () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const tracedBy = (text: string): Resource => ({ ...redis, origin: { ...redis.origin, traceparent: text } });
    const receivedOrigin = (text: string): unknown =>
      roundTrip(toWireResource(tracedBy(text), GLOBAL, CAUSEWAY_DIALECT), CAUSEWAY_DIALECT).meta?.origin;

    it('has the trace for a Causeway peer, and only there', () => {
      expect(receivedOrigin(traceparent)).toEqual({ ...redis.origin, traceparent });
      const [traced, plain] = [tracedBy(traceparent), redis].map((each) => toWireResource(each, GLOBAL, KUMA_DIALECT));
      expect(traced && plain && encode(traced, KUMA_DIALECT).entry).toEqual(plain && encode(plain, KUMA_DIALECT).entry);
    });

    it.each([
      ['nothing', ''],
      ['a trace that is not sampled', traceparent.replace(/1$/, '0')],
      ['no traceparent', 'x'.repeat(55)],
      ['long text', 'x'.repeat(100_000)],
    ])('comes without the trace where a peer says %s', (_, text) => {
      expect(receivedOrigin(text)).toEqual(redis.origin);
    });

    it('has the same version from the global as without the trace: nothing is sent because of it', () => {
      const encoder = new ResourceEncoder(GLOBAL);
      const versionOf = (resource: Resource): string | undefined => {
        const encoding = encoder.encode(resource, CAUSEWAY_DIALECT);
        return encoding.ok ? encoding.resource.version : undefined;
      };
      expect(versionOf(tracedBy(traceparent))).toBe(versionOf(redis));
    });
  });

  it('that cannot be expressed is not sent, with the reason', () => {
    const odd: Resource = {
      ...redis,
      id: { ...redis.id, kind: 'Dataplane' },
      spec: { networking: { inbound: [{ port: -1 }] } },
    };
    expect(new ResourceEncoder(GLOBAL).encode(odd, KUMA_DIALECT)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('-1'),
    });
    expect(new ResourceEncoder(GLOBAL).encode(odd, CAUSEWAY_DIALECT).ok).toBe(true);
  });
});

describe('a received resource', () => {
  it.each([
    ['between Causeway peers', CAUSEWAY_DIALECT],
    ['with our facts in Kuma’s language', { ...KUMA_DIALECT, meta: true }],
  ])('%s is the origin’s, facts and all', (_, dialect) => {
    expect(received(redis, dialect)).toEqual({
      id: redis.id,
      labels: { ...redis.labels, 'kuma.io/origin': 'global' },
      spec: expect.objectContaining({ selector: redis.spec['selector'] }),
      facts: {
        uid: redis.uid,
        generation: 3,
        creationOrder: redis.creationOrder,
        createdAt: redis.createdAt,
        origin: redis.origin,
      },
    });
  });

  it('through a Kuma global keeps its creation order and loses the label', () => {
    const up = toWireResource(redis, EAST, KUMA_DIALECT);
    const result = toCopy({ ...up, labels: { ...up.labels, 'kuma.io/origin': 'global' } }, SERVICE_KIND, GLOBAL);
    expect(result).toMatchObject({
      ok: true,
      copy: { id: redis.id, facts: { creationOrder: redis.creationOrder, generation: 0 } },
    });
    expect(result.ok && result.copy.labels).not.toHaveProperty(CREATION_ORDER_LABEL);
  });

  it('from a zone is that zone’s, whatever it claims', () => {
    const wire = { ...toWireResource(redis, EAST, CAUSEWAY_DIALECT) };
    expect(toCopy(wire, SERVICE_KIND, { role: 'zone', zone: 'west' })).toMatchObject({
      ok: true,
      copy: { id: { zone: 'west' }, labels: { 'kuma.io/zone': 'west', 'kuma.io/origin': 'zone' } },
    });
  });

  it('from Kuma has the same uid at every sight', () => {
    const wire = toWireResource(redis, GLOBAL, KUMA_DIALECT);
    const [one, two] = [toCopy(wire, SERVICE_KIND, GLOBAL), toCopy({ ...wire, spec: {} }, SERVICE_KIND, GLOBAL)];
    expect(one.ok && two.ok && one.copy.facts.uid === two.copy.facts.uid).toBe(true);
  });

  it.each([
    ['no mesh', { mesh: '' }, 'mesh is missing'],
    ['a slash in its name', { labels: { 'kuma.io/display-name': 'a/b' } }, 'without "/"; got "a/b"'],
    ['too long a name', { labels: { 'kuma.io/display-name': 'a'.repeat(254) } }, 'at most 253'],
  ])('with %s is refused', (_, change: Partial<WireResource>, reason) => {
    const result = toCopy({ ...toWireResource(redis, GLOBAL, KUMA_DIALECT), ...change }, SERVICE_KIND, GLOBAL);
    expect(result).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
  });
});

describe('a bad resource stops nothing but itself', () => {
  const good = KumaResource.create({ meta: { name: 'a', mesh: 'default' }, spec: { value: Buffer.from('{}') } });
  const cases: readonly (readonly [string, Partial<KumaResource> | Buffer, string])[] = [
    ['no spec', { spec: undefined }, 'spec is missing'],
    ['a spec that is no JSON', { spec: Any.create({ value: Buffer.from('x') }) }, 'JSON'],
    ['a spec that is no object', { spec: Any.create({ value: Buffer.from('[]') }) }, 'spec is not a JSON object'],
    ['a status that is no object', { status: Any.create({ value: Buffer.from('1') }) }, 'status is not a JSON object'],
    ['no name', { meta: undefined }, 'name is missing'],
    ['broken bytes', Buffer.from([0x0a, 0x7f]), ''],
  ];

  it.each(cases)('%s', (_, change, reason) => {
    const bad = Buffer.isBuffer(change) ? change : Buffer.from(KumaResource.encode({ ...good, ...change }).finish());
    const [first, second] = decodeAll('MeshTrace', [bad, Buffer.from(KumaResource.encode(good).finish())]);
    expect(first).toMatchObject({
      ok: false,
      fault: { kind: 'MeshTrace', name: 'a', mesh: 'default', reason: expect.stringContaining(reason) },
    });
    expect(second).toMatchObject({ ok: true, resource: { name: 'a', mesh: 'default', spec: {} } });
  });

  it('the message of another kind', () => {
    const spec = Any.create({
      typeUrl: 'type.googleapis.com/kuma.mesh.v1alpha1.Mesh',
      value: Buffer.from('4a00', 'hex'),
    });
    const [first] = decodeAll('Dataplane', [Buffer.from(KumaResource.encode({ ...good, spec }).finish())]);
    expect(first).toMatchObject({
      ok: false,
      fault: { reason: expect.stringContaining('kuma.mesh.v1alpha1.Dataplane; got') },
    });
  });

  /** The bytes with `__proto__` for a name as long, since the generated code cannot write it. */
  const withLostKey = (bytes: Uint8Array): Buffer =>
    Buffer.from(Buffer.from(bytes).toString('latin1').replace('xxproto__', '__proto__'), 'latin1');
  const lost = (what: string): string => `${what} has the key __proto__, which no document may have`;

  it.each([
    ['between Causeway peers', CAUSEWAY_DIALECT],
    ['from Kuma', KUMA_DIALECT],
  ])('a label that no map can hold, %s', (_, dialect) => {
    const labelled = (labels: Record<string, string>): Buffer =>
      withLostKey(KumaResource.encode(KumaResource.create({ ...good, meta: { ...good.meta, labels } })).finish());
    const [first, ...others] = decodeAll(
      'MeshTrace',
      [labelled({ a: 'b', xxproto__: 'c' }), labelled({ x__proto__: 'a' }), labelled({ a: 'xxproto__' })],
      dialect,
    );
    expect(first).toMatchObject({ ok: false, fault: { name: 'a', mesh: 'default', reason: lost('a label') } });
    expect(others).toMatchObject([
      { ok: true, resource: { labels: { x__proto__: 'a' } } },
      { ok: true, resource: { labels: { a: '__proto__' } } },
    ]);
  });

  it('a tag that no map can hold, in a Dataplane of Kuma', () => {
    const tags = { 'kuma.io/service': 'a', xxproto__: 'b' };
    const networking = { address: '10.0.0.1', inbound: [{ port: 80, tags }] };
    const whole = Dataplane.encode(Dataplane.fromPartial({ networking })).finish();
    const values = [withLostKey(whole), Buffer.from(whole)].map((value) => {
      const spec = Any.create({ typeUrl: 'type.googleapis.com/kuma.mesh.v1alpha1.Dataplane', value });
      return Buffer.from(KumaResource.encode({ ...good, spec }).finish());
    });
    expect(decodeAll('Dataplane', values)).toMatchObject([
      { ok: false, fault: { name: 'a', mesh: 'default', reason: lost('spec') } },
      { ok: true, resource: { spec: { networking: { inbound: [{ tags }] } } } },
    ]);
  });

  it('but a Secret may hold any text', () => {
    const value = Buffer.from(Secret.encode(Secret.create({ data: Buffer.from('__proto__') })).finish());
    const spec = Any.create({ typeUrl: 'type.googleapis.com/kuma.system.v1alpha1.Secret', value });
    const [read] = decodeAll('Secret', [Buffer.from(KumaResource.encode({ ...good, spec }).finish())]);
    expect(read).toMatchObject({ ok: true, resource: { spec: { data: 'X19wcm90b19f' } } });
  });

  it('something that is no KumaResource', () => {
    const outer = DiscoveryResource.create({ name: 'x.y.default', resource: { typeUrl: 'odd' } });
    const message = DeltaDiscoveryResponse.create({ typeUrl: 'MeshService', resources: [outer] });
    const [first] = decodeResponse(DeltaDiscoveryResponse.encode(message).finish(), KUMA_DIALECT).resources;
    expect(first).toMatchObject({
      ok: false,
      fault: { name: 'x.y', mesh: 'default', reason: expect.stringContaining('got odd') },
    });
  });
});

it('a protobuf spec of a kind we do not know goes on unchanged', () => {
  const spec = Any.create({
    typeUrl: 'type.googleapis.com/kuma.mesh.v1alpha1.MeshGateway',
    value: Buffer.from('0a01ff', 'hex'),
  });
  const kuma = KumaResource.create({ meta: { name: 'a' }, spec });
  const [first] = decodeAll('MeshGateway', [Buffer.from(KumaResource.encode(kuma).finish())]);
  if (first?.ok !== true) throw new Error('not read');
  const { entry } = encode(first.resource, KUMA_DIALECT);
  const [outer] = DeltaDiscoveryResponse.decode(entry).resources;
  expect(KumaResource.decode(outer?.resource?.value ?? Buffer.alloc(0)).spec).toEqual(spec);
});

describe('a response', () => {
  const position: StatePosition = {
    incarnation: 'incarnation-1',
    revision: 4_000_000_001,
    view: 'v',
    more: true,
    resumed: false,
    gone: [{ mesh: 'default', zone: 'east', namespace: 'default', name: 'redis' }],
  };
  const head = { kind: 'MeshService', nonce: '3', controlPlane: 'east' };

  it('has its state position for a Causeway peer', () => {
    const response = { ...head, position, resources: [], removed: [{ name: 'a.b', mesh: 'default' }] };
    expect(decodeResponse(encodeResponse(response), CAUSEWAY_DIALECT)).toEqual(response);
  });
});

describe('whatever a resource holds', () => {
  const text = fc.string({ unit: 'binary', maxLength: 80 });
  const json = fc
    .dictionary(text, fc.jsonValue({ maxDepth: 3 }))
    .map((value): JsonObject => readJson(JSON.stringify(value)));
  const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
  const meta = fc.record({
    uid: text,
    zone: text,
    namespace: text,
    generation: count,
    creationOrder: count,
    origin: fc.record({ incarnation: text, revision: count, committedAt: count }),
  });
  const wire = fc.record({
    kind: fc.constantFrom('MeshService', 'Mesh', 'Dataplane', 'Anything'),
    name: fc.string({ minLength: 1 }),
    mesh: fc.string({ unit: fc.constantFrom('a', 'b', '-') }),
    labels: fc.dictionary(
      text.filter((key) => key !== '__proto__'),
      text,
    ),
    spec: json,
    status: json,
    meta,
  });

  it('is decoded by a Causeway peer as it was encoded', () => {
    fc.assert(fc.property(wire, (resource) => expect(roundTrip(resource, CAUSEWAY_DIALECT)).toEqual(resource)));
  });

  it('has one version for one content, in whatever order its labels stand', () => {
    fc.assert(
      fc.property(wire, (resource) => {
        const shuffled = { ...resource, labels: Object.fromEntries(Object.entries(resource.labels).reverse()) };
        expect(encode(shuffled, CAUSEWAY_DIALECT).entry).toEqual(encode(resource, CAUSEWAY_DIALECT).entry);
      }),
    );
  });

  it('is read by the generated codec as it was written', () => {
    fc.assert(
      fc.property(wire, (resource) => {
        const [outer] = DeltaDiscoveryResponse.decode(encode(resource, CAUSEWAY_DIALECT).entry).resources;
        const { meta: read, spec } = KumaResource.decode(outer?.resource?.value ?? Buffer.alloc(0));
        expect(outer).toMatchObject({ name: formatWireKey(resource), resource: { typeUrl: KUMA_RESOURCE_URL } });
        expect(read).toMatchObject({ name: resource.name, mesh: resource.mesh, labels: resource.labels });
        expect(spec?.value.toString()).toBe(JSON.stringify(resource.spec));
      }),
    );
  });
});

it('a removal is split at the last dot', () => {
  expect(['a.b.default', 'a.', 'a', 'a.b.'].map(parseWireKey)).toEqual([
    { name: 'a.b', mesh: 'default' },
    { name: 'a', mesh: '' },
    { name: 'a', mesh: '' },
    { name: 'a.b', mesh: '' },
  ]);
});

it('a dialect follows from the extensions both sides know', () => {
  expect(sharedExtensions(['cw-json', 'cw-meta', 'cw-chunk'], ['cw-meta', 'cw-json', 'other'])).toEqual([
    'cw-json',
    'cw-meta',
  ]);
  expect([computeDialect(['cw-json', 'cw-meta']), computeDialect([]), computeDialect(['cw-meta'])]).toEqual([
    { ...CAUSEWAY_DIALECT, sources: 'untyped' },
    KUMA_DIALECT,
    { ...KUMA_DIALECT, meta: true },
  ]);
  expect(computeDialect(['cw-json', 'cw-meta', 'cw-sources'])).toEqual(CAUSEWAY_DIALECT);
  expect(computeDialect([], 'typed')).toEqual(KUMA_3_DIALECT);
});

function encode(resource: WireResource, dialect: Dialect): EncodedWireResource {
  const encoding = new ResourceEncoder(GLOBAL).encodeWire(resource, dialect);
  if (!encoding.ok) throw new Error(encoding.reason);
  return encoding.resource;
}

function roundTrip(resource: WireResource, dialect: Dialect): WireResource {
  const head = { kind: resource.kind, nonce: '1', controlPlane: 'x', removed: [] };
  const [read] = decodeResponse(encodeResponse({ ...head, resources: [encode(resource, dialect)] }), dialect).resources;
  if (read?.ok !== true) throw new Error(read?.fault.reason ?? 'nothing');
  return read.resource;
}

function received(resource: Resource, dialect: Dialect): unknown {
  const result = toCopy(roundTrip(toWireResource(resource, GLOBAL, dialect), dialect), SERVICE_KIND, GLOBAL);
  return result.ok ? result.copy : result.reason;
}

function decodeAll(kind: string, values: readonly Buffer[], dialect = KUMA_DIALECT): readonly DecodedResource[] {
  const resources = values.map((value) => ({ name: 'a.default', resource: { typeUrl: KUMA_RESOURCE_URL, value } }));
  const message = DeltaDiscoveryResponse.fromPartial({ typeUrl: kind, resources });
  return decodeResponse(DeltaDiscoveryResponse.encode(message).finish(), dialect).resources;
}

function readJson(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new Error(text);
  return value;
}
