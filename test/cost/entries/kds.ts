import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { coreKinds } from '@causeway/kinds';
import { DeltaDiscoveryRequest, DeltaDiscoveryResponse, HandshakeRequest, KumaResource } from '@causeway/proto-gen';
import type { JsonObject, Kind } from '@causeway/resources';
import { ResourceIndex } from '@causeway/store';
import { Inbox } from '@causeway/sync';
import {
  CAUSEWAY_DIALECT,
  decodeRequest,
  encodeRequest,
  encodeResponse,
  KUMA_DIALECT,
  parseWireKey,
  ResourceEncoder,
  type Dialect,
  type WireResource,
} from '@causeway/kds/testing';
import { CHUNKED_BOUNDS, KUMA_BOUNDS, REQUEST_BOUNDS } from '../../../libs/kds/src/wire/bounds';
import { openResponse } from '../../../libs/kds/src/wire/response';
import { checkHandshake } from '../../../libs/kds/src/global/handshake-rules';
import { decodeMessage } from '../../../libs/kds/src/session/inbound/decode-message';
import type { Prng } from '../../simulation/engine/prng';
import { takesText, type EntryPoint, type Shape } from '../entry-point';
import { bodyShapes } from '../shapes/bodies';
import { numbered, repeated, textShapes } from '../shapes/texts';

/** A resource of a kind alone in its message; one of more bytes is refused before it is read. */
const RESOURCE = CHUNKED_BOUNDS.bytes;

const encoder = new ResourceEncoder({ role: 'zone', zone: 'west', federated: true });
const DIALECTS = [
  ['Causeway', CAUSEWAY_DIALECT],
  ['Kuma', KUMA_DIALECT],
] as const;

/** Messages of KDS in both directions. */
export function kdsEntries(draw: Prng): EntryPoint[] {
  const responses = DIALECTS.flatMap(([name, dialect]) =>
    coreKinds.kinds.map((kind): EntryPoint => ({
      name: `KDS ${kind.name} from ${name}`,
      largest: RESOURCE,
      shapes: resourceShapes(kind, dialect, draw.fork(kind.name)),
    })),
  );
  return [
    ...responses,
    {
      name: 'KDS response from Causeway',
      largest: CHUNKED_BOUNDS.bytes,
      shapes: responseShapes(CAUSEWAY_DIALECT, draw),
    },
    { name: 'KDS response from Kuma', largest: KUMA_BOUNDS.bytes, shapes: responseShapes(KUMA_DIALECT, draw) },
    { name: 'KDS request', largest: REQUEST_BOUNDS.bytes, shapes: requestShapes() },
    { name: 'KDS handshake', largest: REQUEST_BOUNDS.bytes, shapes: handshakeShapes() },
    takesText('KDS key of a resource', RESOURCE, textShapes(draw), parseWireKey),
  ];
}

/** Takes a message in as a stream does, up to what would be written. */
function takeIn(bytes: Buffer, dialect: Dialect): unknown {
  const bounds = dialect.meta ? CHUNKED_BOUNDS : KUMA_BOUNDS;
  const receiver = { role: 'global', from: 'west' } as const;
  const index = new ResourceIndex();
  const steps = decodeMessage(openResponse(bytes, bounds), {
    receiver,
    index,
    dialect,
    bounds,
    findKind: (name) => coreKinds.kind(name),
    hasSeen: () => true,
    isWhole: () => true,
    now: () => 1,
  });
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return new Inbox(() => []).receive(step.value.message);
  }
}

/** One resource whose content is hostile, and many of a kind. */
function resourceShapes(kind: Kind, dialect: Dialect, draw: Prng): Shape[] {
  const bodies = bodyShapes(kind, draw).filter(({ name }) => name.startsWith('spec') && !name.includes('['));
  const inside = bodies.map(({ name, make }): Shape => ({
    name: `one resource, ${name}`,
    prepare: (size) => message(kind, dialect, [{ spec: specOf(make(size)) }]),
  }));
  const many = (name: string, one: (i: number, size: number) => Partial<WireResource>, each: number): Shape => ({
    name,
    prepare: (size) =>
      message(
        kind,
        dialect,
        Array.from({ length: Math.ceil(size / each) }, (_, i) => one(i, size)),
      ),
  });
  const single = (name: string, one: (size: number) => Partial<WireResource>): Shape => ({
    name,
    prepare: (size) => message(kind, dialect, [one(size)]),
  });
  return [
    ...inside,
    many('many resources', (i) => ({ name: `a${i}` }), 300),
    many('one resource again and again', () => ({}), 300),
    many('many with bad names', (i) => ({ name: `*\n${i}` }), 300),
    single('many labels', (size) => ({ labels: labelsOf(size) })),
    single('a long label', (size) => ({ labels: { a: repeated('a', size) } })),
    single('a long name', (size) => ({ name: repeated('a.', size) })),
    single('a long mesh', (size) => ({ mesh: repeated('a', size) })),
    single('a status', (size) => ({
      status: { addresses: JSON.parse(`[${numbered(size, (i) => `{"hostname":"a${i}"}`)}]`) },
    })),
  ];
}

function specOf(body: string): JsonObject {
  try {
    const { spec } = JSON.parse(body);
    return typeof spec === 'object' && spec !== null ? spec : {};
  } catch {
    return {};
  }
}

function labelsOf(size: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: Math.ceil(size / 12) }, (_, i) => [`label-${i}`, 'v']));
}

function message(kind: Kind, dialect: Dialect, resources: readonly Partial<WireResource>[]): () => unknown {
  const mesh = kind.scope === 'mesh' ? 'default' : '';
  const meta = {
    uid: 'u',
    zone: 'west',
    namespace: 'default',
    generation: 1,
    creationOrder: 1,
    origin: { incarnation: 'i', revision: 1, committedAt: 1 },
  };
  const said = resources.flatMap((one) => {
    const wire = { kind: kind.name, name: 'a', mesh, labels: {}, spec: {}, ...(dialect.meta ? { meta } : {}), ...one };
    const encoding = encoder.encodeWire(wire, dialect);
    return encoding.ok ? [encoding.resource] : [];
  });
  const bytes = encodeResponse({ kind: kind.name, nonce: 'n', controlPlane: 'west', resources: said, removed: [] });
  return () => takeIn(bytes, dialect);
}

function responseShapes(dialect: Dialect, draw: Prng): Shape[] {
  const head = { kind: 'MeshService', nonce: 'n', controlPlane: 'west', resources: [], removed: [] };
  const position = { incarnation: 'i', revision: 1, view: '', more: false, resumed: true, gone: [] };
  const bytesShape = (name: string, make: (size: number) => Uint8Array): Shape => ({
    name,
    prepare: (size) => {
      const bytes = Buffer.from(make(size));
      return () => takeIn(bytes, dialect);
    },
  });
  const gone = (size: number) =>
    Array.from({ length: Math.ceil(size / 24) }, (_, i) => ({
      mesh: 'default',
      zone: 'west',
      namespace: '',
      name: `a${i}`,
    }));
  const raw = (name: string, write: (out: BinaryWriter, i: number) => unknown, each: number): Shape =>
    bytesShape(name, (size) => {
      const out = new BinaryWriter().uint32(34).string('MeshService');
      for (let i = 0; i * each < size; i++) write(out, i);
      return out.finish();
    });
  return [
    bytesShape('many removed', (size) =>
      encodeResponse({
        ...head,
        removed: Array.from({ length: Math.ceil(size / 16) }, (_, i) => ({ name: `a${i}`, mesh: 'default' })),
      }),
    ),
    bytesShape('many gone', (size) => encodeResponse({ ...head, position: { ...position, gone: gone(size) } })),
    bytesShape('a long kind', (size) => encodeResponse({ ...head, kind: repeated('Mesh', size) })),
    bytesShape('a long nonce', (size) => encodeResponse({ ...head, nonce: repeated('n', size) })),
    bytesShape('a long incarnation', (size) =>
      encodeResponse({ ...head, position: { ...position, incarnation: repeated('i', size) } }),
    ),
    raw('unknown fields', (out, i) => out.uint32((200 + (i % 10_000)) * 8 + 2).string('x'), 4),
    raw('one unknown field', (out) => out.uint32(200 * 8 + 2).string('x'), 4),
    raw('empty resources', (out) => out.uint32(18).bytes(new Uint8Array(0)), 2),
    raw('many kinds', (out, i) => out.uint32(34).string(`K${i}`), 8),
    raw('many marks', (out) => out.uint32(100 * 8 + 2).bytes(new Uint8Array(0)), 3),
    bytesShape('noise', (size) => Uint8Array.from({ length: size }, () => draw.between(0, 255))),
    bytesShape('zeros', (size) => new Uint8Array(size)),
    bytesShape('groups in groups', (size) => new Uint8Array(size).fill((200 * 8 + 3) & 0x7f)),
    bytesShape('a resource with many labels again', (size) => {
      const labels = (i: number) => ({ [`k${i % 7}`]: 'v' });
      const out = new BinaryWriter();
      for (let i = 0; i * 20 < size; i++)
        out.raw(KumaResource.encode(KumaResource.fromPartial({ meta: { name: 'a', labels: labels(i) } })).finish());
      const any = { typeUrl: 'type.googleapis.com/kuma.mesh.v1alpha1.KumaResource', value: Buffer.from(out.finish()) };
      return DeltaDiscoveryResponse.encode(
        DeltaDiscoveryResponse.fromPartial({ typeUrl: 'MeshService', resources: [{ name: 'a', resource: any }] }),
      ).finish();
    }),
  ];
}

function requestShapes(): Shape[] {
  const head = { kind: 'MeshService', zone: 'west' };
  const shape = (name: string, make: (size: number) => Buffer | Uint8Array): Shape => ({
    name,
    prepare: (size) => {
      const bytes = Buffer.from(make(size));
      return () => decodeRequest(bytes);
    },
  });
  const metadata = (config: string, features: readonly string[] = []) => ({
    version: '1',
    config,
    controlPlaneId: 'x',
    features,
  });
  const results = (size: number) =>
    Array.from({ length: Math.ceil(size / 100) }, (_, i) => ({
      kind: 'MeshService',
      name: `a${i}`,
      mesh: 'default',
      version: '',
      outcome: 'rejected' as const,
      reason: 'x',
    }));
  const deep = (depth: number): JsonObject => JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));
  return [
    shape('many held', (size) =>
      encodeRequest({
        type: 'subscribe',
        ...head,
        held: Object.fromEntries(Array.from({ length: Math.ceil(size / 20) }, (_, i) => [`a${i}.default`, 'v'])),
      }),
    ),
    shape('one held again', (size) =>
      DeltaDiscoveryRequest.encode(
        DeltaDiscoveryRequest.fromPartial({
          typeUrl: 'a',
          resourceNamesSubscribe: Array.from({ length: size / 4 }, () => 'a'),
        }),
      ).finish(),
    ),
    shape('a long configuration', (size) =>
      encodeRequest({ type: 'subscribe', ...head, held: {}, metadata: metadata(repeated('{"', size)) }),
    ),
    shape('many features', (size) =>
      encodeRequest({
        type: 'subscribe',
        ...head,
        held: {},
        metadata: metadata(
          '',
          Array.from({ length: size / 10 }, (_, i) => `f${i}`),
        ),
      }),
    ),
    shape('a deep node', (size) =>
      DeltaDiscoveryRequest.encode(
        DeltaDiscoveryRequest.fromPartial({
          typeUrl: 'a',
          node: { id: 'a', metadata: deep(Math.min(500, size / 12)) },
        }),
      ).finish(),
    ),
    shape('many results', (size) => encodeRequest({ type: 'ack', ...head, nonce: 'n', results: results(size) })),
    shape('a long reason', (size) =>
      encodeRequest({ type: 'nack', ...head, nonce: 'n', message: repeated('x\n', size), results: [] }),
    ),
    shape('a long zone', (size) =>
      encodeRequest({ type: 'nack', ...head, zone: repeated('x', size), nonce: 'n', message: '', results: [] }),
    ),
  ];
}

function handshakeShapes(): Shape[] {
  const shape = (name: string, make: (size: number) => Parameters<typeof HandshakeRequest.fromPartial>[0]): Shape => ({
    name,
    prepare: (size) => {
      const bytes = HandshakeRequest.encode(HandshakeRequest.fromPartial(make(size))).finish();
      return () => checkHandshake(HandshakeRequest.decode(bytes), coreKinds.kinds.length);
    },
  });
  return [
    shape('many points', (size) => ({
      resumePoints: Array.from({ length: size / 20 }, (_, i) => ({
        kind: `K${i}`,
        incarnation: 'i',
        revision: 1,
        view: '',
      })),
    })),
    shape('many features', (size) => ({ features: Array.from({ length: size / 8 }, (_, i) => `f${i}`) })),
    shape('a long store id', (size) => ({ storeId: repeated('x', size) })),
  ];
}
