import type { Resource } from '@causeway/resources';
import { BookmarkedEvents, decodeResumePoint, encodedOnce, EncodedPuts, encodeResumePoint } from './watch-event';

function resource(name: string): Resource {
  return {
    id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name },
    uid: name,
    labels: {},
    spec: {},
    generation: 1,
    creationOrder: 1,
    createdAt: 0,
    modifiedAt: 0,
    revision: 1,
    origin: { incarnation: 'i', revision: 1, committedAt: 0 },
    freed: [],
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

describe('BookmarkedEvents', () => {
  it('joins an event and the bookmark of a point once for all readers, and anew at the next point', () => {
    const bookmarks = new BookmarkedEvents(({ revision }) => `at ${revision}`);
    const [first, second] = [1, 2].map((revision) => ({ incarnation: 'i', revision }));
    if (!first || !second) throw new Error('no points');
    const [a, b] = [Buffer.from('a '), Buffer.from('b ')];
    const joined = bookmarks.behind(a, first);
    expect(String(joined)).toBe('a at 1');
    expect(String(bookmarks.behind(b, first))).toBe('b at 1');
    expect(bookmarks.behind(a, first)).toBe(joined);
    expect(String(bookmarks.behind(a, second))).toBe('a at 2');
    expect(bookmarks.of(second)).toBe(bookmarks.of(second));
  });

  it('holds 8 MiB and one event', () => {
    let encoded = 0;
    const bookmarks = new BookmarkedEvents(() => `${(encoded += 1)}`);
    const point = { incarnation: 'i', revision: 1 };
    const events = Array.from({ length: 10 }, () => Buffer.alloc(1024 * 1024));
    const joined = events.map((event) => bookmarks.behind(event, point));
    expect(encoded).toBe(1);
    expect(joined.map((event, i) => bookmarks.behind(events[i] ?? '', point) === event).slice(0, 2)).toEqual([
      false,
      false,
    ]);
  });
});

describe('encodedOnce', () => {
  it('encodes a thing once for readers that get it one after the other', () => {
    let times = 0;
    const encode = encodedOnce(({ name }: { readonly name: string }) => Buffer.from(`${name} ${(times += 1)}`));
    const [a, b] = [{ name: 'a' }, { name: 'b' }];
    expect([a, a, b, a].map((one) => String(encode(one)))).toEqual(['a 1', 'a 1', 'b 2', 'a 3']);
  });
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
