import { gunzipSync } from 'node:zlib';
import type { StatePart } from '@causeway/sync';
import { decodeResponse } from '../../../testing/decode-response';
import { CAUSEWAY_DIALECT } from '../../../testing/dialects';
import { ResourceEncoder } from '../../wire/resource-encoder';
import { encodeResponse, type OutgoingResponse } from '../../wire/response';
import { CompressedStates } from './compressed-states';
import type { OutboundItem } from './peer-index-view';

const encoder = new ResourceEncoder({ role: 'global' });

function partOf(prefix: string, count: number): StatePart<OutboundItem> {
  const put = Array.from({ length: count }, (_, n): OutboundItem => {
    const spec = { ports: [{ port: 1_000 + n, appProtocol: 'http' }] };
    const wire = { kind: 'MeshService', mesh: 'default', name: `${prefix}-${n}`, labels: {}, spec };
    const encoding = encoder.encodeWire(wire, CAUSEWAY_DIALECT);
    if (!encoding.ok) throw new Error(encoding.reason);
    const { entry, version } = encoding.resource;
    return { wireKey: `${wire.name}.default`, version, size: entry.length, encoded: encoding.resource };
  });
  return { put, gone: [], size: put.reduce((sum, { size }) => sum + size, 0) };
}

const restOf = (nonce: string): Omit<OutgoingResponse, 'resources'> => ({
  kind: 'MeshService',
  nonce,
  controlPlane: 'global',
  removed: [],
  position: { incarnation: 'i', revision: 7, view: 'v', more: false, resumed: false, gone: [] },
});

describe('compressed first states', () => {
  it('are the message that is sent uncompressed, in a fraction of its bytes', () => {
    const parts = [partOf('one', 300), partOf('other', 300)];
    const members = new CompressedStates().members(parts, restOf('1')) ?? [];
    const compressed = Buffer.concat(members);
    const resources = parts.flatMap(({ put }) => put.map(({ encoded }) => encoded));
    const plain = encodeResponse({ ...restOf('1'), resources });
    expect(gunzipSync(compressed).equals(plain)).toBe(true);
    expect(compressed.length).toBeLessThan(plain.length / 4);
    const decoded = decodeResponse(gunzipSync(compressed), CAUSEWAY_DIALECT);
    expect([decoded.nonce, decoded.position?.revision, decoded.resources.length]).toEqual(['1', 7, 600]);
  });

  it('share what they have in common: a part is compressed once', () => {
    const states = new CompressedStates();
    const part = partOf('one', 300);
    const [one, ofOne] = states.members([part], restOf('1')) ?? [];
    const [other, ofOther] = states.members([part], restOf('2')) ?? [];
    expect(one).toBe(other);
    expect(ofOne?.equals(ofOther ?? Buffer.alloc(0))).toBe(false);
  });

  it('are none where it is not worth it, nor beyond what a peer takes', () => {
    const states = new CompressedStates();
    expect(states.members([partOf('one', 10)], restOf('1'))).toBeUndefined();
    expect(states.members([], restOf('1'))).toBeUndefined();
    expect(states.members([{ ...partOf('one', 1), size: 11 * 1024 * 1024 }], restOf('1'))).toBeUndefined();
  });
});
