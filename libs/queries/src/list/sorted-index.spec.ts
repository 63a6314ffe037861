import type { Identity, Resource } from '@causeway/resources';
import { yieldToEventLoop, SLICE } from '@causeway/runtime';
import { ResourceIndex } from '@causeway/store';
import { SortedIndex } from './sorted-index';

const KIND = 'MeshService';
const NEVER = new AbortController().signal;

const idOf = (name: string): Identity => ({ kind: KIND, mesh: 'm', zone: 'z', namespace: 'n', name });

function service(name: string, revision = 1): Resource {
  return {
    id: idOf(name),
    uid: name,
    labels: {},
    spec: {},
    generation: 1,
    creationOrder: 1,
    createdAt: 0,
    modifiedAt: 0,
    revision,
    freed: [],
    origin: { incarnation: 'i', revision, committedAt: 0 },
  };
}

/** Names in no order: 7 has no common factor with their number. */
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `s-${(i * 7) % count}`);

class ScannedIndex extends ResourceIndex {
  looked = 0;
  private revision = 1;

  override *ofKind(kind: string): Generator<Resource> {
    for (const resource of super.ofKind(kind)) {
      this.looked += 1;
      yield resource;
    }
  }

  hold(names: readonly string[]): this {
    const resources = names.map((name) => service(name));
    this.load({ point: { incarnation: 'i', revision: ++this.revision }, resources, tombstones: [] });
    return this;
  }

  put(...names: readonly string[]): void {
    const revision = ++this.revision;
    this.apply({ revision, changes: names.map((name) => ({ type: 'put', resource: service(name, revision) })) });
  }

  remove(name: string): void {
    const tombstone = { id: idOf(name), revision: ++this.revision, deletedAt: 0, freed: [] };
    this.apply({ revision: this.revision, changes: [{ type: 'delete', tombstone }] });
  }

  names(): string[] {
    return [...super.ofKind(KIND)].map(({ id }) => id.name).sort();
  }
}

const namesOf = (sorted: SortedIndex): string[] => sorted.of(KIND).map(({ id }) => id.name);

function indexOf(names: readonly string[]): { readonly index: ScannedIndex; readonly sorted: SortedIndex } {
  const index = new ScannedIndex().hold(names);
  const sorted = new SortedIndex(index);
  sorted.follow();
  return { index, sorted };
}

describe('SortedIndex', () => {
  it('sorts in slices, once for all callers that wait', async () => {
    const { index, sorted } = indexOf(many(10_000));
    const both = [sorted.ready(KIND, () => NEVER), sorted.ready(KIND, () => NEVER)];
    expect(index.looked).toBe(SLICE);
    await Promise.all(both);
    expect(index.looked).toBe(10_000);
    expect(namesOf(sorted)).toEqual(index.names());
    expect(index.looked).toBe(10_000);
  });

  it('stops a sort that no caller waits for any more', async () => {
    const { index, sorted } = indexOf(many(10_000));
    const life = new AbortController();
    const waiting = sorted.ready(KIND, () => life.signal);
    life.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    for (let i = 0; i < 3; i++) await yieldToEventLoop();
    expect(index.looked).toBe(SLICE);
    await sorted.ready(KIND, () => NEVER);
    expect(namesOf(sorted)).toEqual(index.names());
  });

  it('misses nothing that is created, deleted, created again or reloaded during a sort', async () => {
    const { index, sorted } = indexOf(many(10_000));
    const ready = sorted.ready(KIND, () => NEVER);
    for (let i = 0; i < 15; i++) {
      index.put(`new-${i}`, `back-${i}`);
      index.remove(`s-${i * 7}`);
      index.remove(`s-${9_999 - i * 7}`);
      index.remove(`back-${i}`);
      index.put(`s-${i * 7}`, `back-${i}`);
      if (i % 2 === 0) index.remove(`back-${i}`);
      await yieldToEventLoop();
    }
    await ready;
    expect(namesOf(sorted)).toEqual(index.names());
    index.hold(many(3_000));
    const again = sorted.ready(KIND, () => NEVER);
    index.hold(many(4_000));
    await again;
    expect(namesOf(sorted)).toEqual(index.names());
  });

  it('merges what was created and deleted since, also what was both', async () => {
    const { index, sorted } = indexOf(many(10));
    await sorted.ready(KIND, () => NEVER);
    expect(namesOf(sorted)).toEqual(index.names());
    index.put('a', 'b', 'z');
    index.remove('b');
    index.remove('s-3');
    index.remove('s-4');
    index.put('s-4');
    expect(namesOf(sorted)).toEqual(index.names());
  });

  it('sorts again in slices when very much was created since', async () => {
    const { index, sorted } = indexOf(many(10));
    await sorted.ready(KIND, () => NEVER);
    index.put(...many(6_000));
    index.looked = 0;
    const ready = sorted.ready(KIND, () => NEVER);
    expect(index.looked).toBe(SLICE);
    await ready;
    expect(namesOf(sorted)).toEqual(index.names());
  });
});
