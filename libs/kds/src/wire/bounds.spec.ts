import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { BoundsExceeded, CHUNKED_BOUNDS, KUMA_BOUNDS, REQUEST_BOUNDS } from './bounds';
import { CAUSEWAY_DIALECT } from '../../testing/dialects';
import { decodeRequest, encodeRequest, type SubscribeRequest } from './request';
import { ResourceEncoder } from './resource-encoder';
import { encodeResponse, openResponse, MalformedMessage } from './response';
import { decodeResponse } from '../../testing/decode-response';
import type { WireResource } from './wire-resource';

const HEAD = { kind: 'MeshService', nonce: '1', controlPlane: 'east' };
const MARK = { incarnation: 'one', revision: 1, view: '', more: false, resumed: true };
const repeated = (hex: string, count: number): Buffer => Buffer.from(hex.repeat(count), 'hex');

function encoded(change: Partial<WireResource>): ReturnType<typeof encodeResponse> {
  const encoder = new ResourceEncoder({ role: 'global' });
  const resources = [{}, change].map((more, i) => {
    const wire = { kind: 'MeshService', name: `s${i}`, mesh: 'm', labels: {}, spec: {}, ...more };
    const encoding = encoder.encodeWire(wire, CAUSEWAY_DIALECT);
    if (!encoding.ok) throw new Error(encoding.reason);
    return encoding.resource;
  });
  return encodeResponse({ ...HEAD, resources, removed: [] });
}

describe('a response', () => {
  it('is refused whole when it is too large, or has too many parts', () => {
    const [resource, removal] = ['1200', '3200'];
    expect(() => openResponse(Buffer.alloc(CHUNKED_BOUNDS.bytes + 1), CHUNKED_BOUNDS)).toThrow(
      new BoundsExceeded('a response has 2097153 bytes; at most 2097152 are taken'),
    );
    for (const part of [resource, removal]) {
      expect(() => openResponse(repeated(part, 50_000), CHUNKED_BOUNDS)).toThrow(BoundsExceeded);
      expect(() => openResponse(repeated(part, 50_000), KUMA_BOUNDS)).not.toThrow();
      expect(() => openResponse(repeated(part, 1_000_000), KUMA_BOUNDS)).toThrow(BoundsExceeded);
    }
    const gone = Array.from({ length: 20_001 }, () => ({ mesh: '', zone: '', namespace: '', name: 'a' }));
    const marked = encodeResponse({ ...HEAD, resources: [], removed: [], position: { ...MARK, gone } });
    expect(() => openResponse(marked, CHUNKED_BOUNDS)).toThrow(/a mark of state has more than 20000 parts/);
    const named = encodeResponse({ ...HEAD, kind: 'k'.repeat(254), resources: [], removed: [] });
    expect(() => openResponse(named, KUMA_BOUNDS)).toThrow(/at most 253/);
  });

  it('that is not a message is refused as such', () => {
    expect(() => openResponse(Buffer.from('ffffff', 'hex'), KUMA_BOUNDS)).toThrow(MalformedMessage);
    // A resource that ends before its length.
    expect(() => openResponse(Buffer.from('1205aa', 'hex'), KUMA_BOUNDS)).toThrow(MalformedMessage);
    expect(() => decodeResponse(Buffer.from('1202ffff', 'hex'), CAUSEWAY_DIALECT)).toThrow(MalformedMessage);
  });

  it('is refused alike whatever the order of its fields', () => {
    const bytes = encodeResponse({ ...HEAD, resources: [], removed: [{ name: 'a', mesh: 'm' }] });
    const moved = Buffer.concat([repeated('1200', 2), bytes, repeated('1200', 1)]);
    const { entries, ...head } = openResponse(moved, KUMA_BOUNDS);
    expect(entries).toHaveLength(3);
    expect(head).toEqual({ ...HEAD, removed: [{ name: 'a', mesh: 'm' }] });
  });

  it('with one resource that is too large refuses that alone', () => {
    const large = encoded({ spec: { text: 'x'.repeat(1_700_000) } });
    const { resources } = decodeResponse(large, CAUSEWAY_DIALECT, CHUNKED_BOUNDS);
    expect(resources).toMatchObject([
      { ok: true, resource: { name: 's0' } },
      { ok: false, fault: { name: 's1', mesh: 'm', reason: /the resource has \d+ bytes; at most 1572864 are taken/ } },
    ]);
  });

  it('with one resource of very many labels refuses that alone', () => {
    const labels = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`l${i}`, '']));
    const { resources } = decodeResponse(encoded({ labels }), CAUSEWAY_DIALECT, CHUNKED_BOUNDS);
    expect(resources.map(({ ok }) => ok)).toEqual([true, false]);
    expect(resources[1]).toMatchObject({ fault: { reason: /the envelope has more than 4096 parts/ } });
  });
});

describe('a request', () => {
  const subscribe: SubscribeRequest = { type: 'subscribe', kind: 'MeshService', zone: 'east', held: {} };

  it('is refused when it is too large, holds too much, or names a kind that is none', () => {
    const held = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`s${i}.m`, '1']));
    expect(() => decodeRequest(encodeRequest({ ...subscribe, held }))).toThrow(/a request has more than 10000 parts/);
    const kind = 'k'.repeat(254);
    expect(() => decodeRequest(encodeRequest({ ...subscribe, kind }))).toThrow(/at most 253/);
    expect(() => decodeRequest(Buffer.alloc(REQUEST_BOUNDS.bytes + 1))).toThrow(/at most 2097152 are taken/);
    const metadata = { version: '1', config: 'x'.repeat(300_000), controlPlaneId: '', features: [] };
    expect(() => decodeRequest(encodeRequest({ ...subscribe, metadata }))).toThrow(/the node of a request/);
  });

  it('with an answer of millions of empty results is refused before one is made', () => {
    const detail = repeated('1a00', 500_000);
    const bytes = new BinaryWriter()
      .uint32(6 * 8 + 2)
      .string('1')
      .uint32(7 * 8 + 2)
      .bytes(detail)
      .finish();
    expect(() => decodeRequest(bytes)).toThrow(/the answer to a response has more than 25000 parts/);
  });
});
