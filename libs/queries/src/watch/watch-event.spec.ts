import type { Resource } from '@causeway/resources';
import { decodeResumePoint, EncodedPuts, encodeResumePoint } from './watch-event';

function resource(name: string): Resource {
  return {
    id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name },
    ...{ uid: name, labels: {}, spec: {}, generation: 1, creationOrder: 1, createdAt: 0, modifiedAt: 0, revision: 1 },
    ...{ origin: { incarnation: 'i', revision: 1, committedAt: 0 }, freed: [] },
  };
}

describe('resume points', () => {
  it.each([
    [encodeResumePoint({ incarnation: 'i-1', revision: 7 }), { incarnation: 'i-1', revision: 7 }],
    ['7', { revision: 7 }],
    ['', undefined],
    ['i.', undefined],
    ['.7', undefined],
    ['i.7.8', undefined],
    ['-7', undefined],
    ['9'.repeat(16), undefined],
  ])('"%s"', (text, point) => expect(decodeResumePoint(text)).toEqual(point));
});

describe('EncodedPuts', () => {
  it('encodes a resource once, and again after 8 MiB of others', () => {
    let encoded = 0;
    const puts = new EncodedPuts(() => {
      encoded += 1;
      return Buffer.alloc(1024 * 1024);
    });
    const first = resource('first');
    expect(puts.of(first)).toBe(puts.of(first));
    expect(encoded).toBe(1);
    for (let i = 0; i < 8; i++) puts.of(resource(`other-${i}`));
    puts.of(first);
    expect(encoded).toBe(10);
  });

  it('keeps the newest event, however large', () => {
    const puts = new EncodedPuts(() => Buffer.alloc(9 * 1024 * 1024));
    const large = resource('large');
    expect(puts.of(large)).toBe(puts.of(large));
  });
});
