import type { Kind, KindAlias } from './kind';
import { nearest } from '../suggestion';

/** A kind, and the alias by which it was called; without one its own name was used. */
export interface NamedKind {
  readonly kind: Kind;
  readonly alias?: KindAlias;
}

/** The kinds that a program knows, built once from an explicit list. There is no global registry. */
export class Registry {
  readonly kinds: readonly Kind[];
  private readonly byName: ReadonlyMap<string, NamedKind>;
  private readonly byPlural: ReadonlyMap<string, NamedKind>;
  private readonly byNoun: ReadonlyMap<string, NamedKind>;

  /** Throws if two kinds share a name, plural or short name, which is a bug of the list. */
  constructor(kinds: readonly Kind[]) {
    this.kinds = Object.freeze([...kinds]);
    const named = kinds.flatMap((kind): Entry[] => [
      { kind, name: kind.name, plural: kind.plural },
      ...kind.aliases.map((alias) => ({ kind, alias, name: alias.name, plural: alias.plural })),
    ]);
    const short = kinds.map((kind) => [kind.shortName, { kind }] as const);
    this.byName = uniqueMap(named.map((entry) => [entry.name, entry]));
    this.byPlural = uniqueMap(named.map((entry) => [entry.plural, entry]));
    this.byNoun = uniqueMap([
      ...this.byPlural,
      ...short,
      ...named.map((one) => [one.name.toLowerCase(), one] as const),
    ]);
  }

  /** The kind called `name` (`MeshService`, or an alias like `XMesh`), or undefined. */
  kind(name: string): Kind | undefined {
    return this.byName.get(name)?.kind;
  }

  /** The alias that is called `name`; undefined for a kind's own name and for other words. */
  alias(name: string): KindAlias | undefined {
    return this.byName.get(name)?.alias;
  }

  /** The kind that REST serves under this plural, a kind's or an alias's, or undefined. */
  collection(plural: string): NamedKind | undefined {
    return this.byPlural.get(plural);
  }

  /** The kind whose plural, short name or name in lower case is `noun`, or undefined. */
  noun(noun: string): Kind | undefined {
    return this.byNoun.get(noun)?.kind;
  }

  /** The kind name nearest to `word`, for error messages. */
  suggestKind(word: string): string | undefined {
    return nearest(word, [...this.byName.keys()]);
  }

  /** The plural or short name nearest to `word`, for error messages. */
  suggestNoun(word: string): string | undefined {
    return nearest(word, [...this.byPlural.keys(), ...this.kinds.map((kind) => kind.shortName)]);
  }
}

interface Entry extends NamedKind {
  readonly name: string;
  readonly plural: string;
}

function uniqueMap(entries: readonly (readonly [string, NamedKind])[]): ReadonlyMap<string, NamedKind> {
  const map = new Map<string, NamedKind>();
  for (const [key, { kind, alias }] of entries) {
    const other = map.get(key);
    if (other && other.kind !== kind)
      throw new Error(`kinds ${other.kind.name} and ${kind.name} are both called "${key}"`);
    if (!other) map.set(key, alias ? { kind, alias } : { kind });
  }
  return map;
}
