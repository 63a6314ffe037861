import type { Kind } from './kind';
import { nearest } from '../suggestion';

/** The kinds that a program knows, built once from an explicit list. There is no global registry. */
export class Registry {
  readonly kinds: readonly Kind[];
  private readonly byName: ReadonlyMap<string, Kind>;
  private readonly byNoun: ReadonlyMap<string, Kind>;

  /** Throws if two kinds share a name, plural or short name, which is a bug of the list. */
  constructor(kinds: readonly Kind[]) {
    this.kinds = Object.freeze([...kinds]);
    this.byName = uniqueMap(kinds.flatMap((kind) => [kind.name, ...kind.aliases].map((name) => [name, kind] as const)));
    this.byNoun = uniqueMap(
      kinds.flatMap((kind) => [kind.plural, kind.shortName].map((noun) => [noun, kind] as const)),
    );
  }

  /** The kind called `name` (`MeshService`, or an alias like `XMesh`), or undefined. */
  kind(name: string): Kind | undefined {
    return this.byName.get(name);
  }

  /** The kind whose plural or short name is `noun`, or undefined. */
  noun(noun: string): Kind | undefined {
    return this.byNoun.get(noun);
  }

  /** The kind name nearest to `word`, for error messages. */
  suggestKind(word: string): string | undefined {
    return nearest(word, [...this.byName.keys()]);
  }

  /** The noun nearest to `word`, for error messages. */
  suggestNoun(word: string): string | undefined {
    return nearest(word, [...this.byNoun.keys()]);
  }
}

function uniqueMap(entries: readonly (readonly [string, Kind])[]): ReadonlyMap<string, Kind> {
  const map = new Map<string, Kind>();
  for (const [key, kind] of entries) {
    const other = map.get(key);
    if (other && other !== kind) throw new Error(`kinds ${other.name} and ${kind.name} are both called "${key}"`);
    map.set(key, kind);
  }
  return map;
}
