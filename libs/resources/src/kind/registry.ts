import type { Kind, KindAlias } from './kind';
import { nearest } from '../suggestion';
import { isOfGroup, parseApiVersion, type GroupedKind } from './api-groups';

/** A kind, and the alias that was used for it; absent if its own name was used. */
export interface NamedKind {
  readonly kind: Kind;
  readonly alias?: KindAlias;
}

/**
 * Result of looking up `apiVersion` and `kind` of a document: a kind, or the kinds of this name in other groups or
 * versions.
 */
export type FoundKind =
  | ({ readonly found: true } & NamedKind)
  | { readonly found: false; readonly sameNamed: readonly (GroupedKind & Pick<Kind, 'name'>)[] };

/** Kinds that come and go while a program runs. Both fields are read often and must cost nothing while nothing changes. */
export interface KindSource {
  /** Changes whenever `kinds` does. */
  readonly version: number;
  readonly kinds: readonly Kind[];
}

/**
 * The kinds of a program: a fixed list, and those of a source if there is one. There is no global registry. Code that
 * caches what it derives from `kinds` stores `version` with it, and derives it again when that differs.
 */
export class Registry {
  private tables: Tables | undefined;

  /**
   * Omits a kind of `declared` whose name, plural or short name is used in `fixed` or earlier in `declared`. Throws if
   * two kinds of `fixed` share one, which is a bug.
   */
  constructor(
    private readonly fixed: readonly Kind[],
    private readonly declared?: KindSource,
  ) {
    this.tables = new Tables(fixed, declared);
  }

  /** Changes whenever a kind is added, changed or removed. */
  get version(): number {
    return this.declared?.version ?? 0;
  }

  /** Every kind; a new list whenever `version` changes. */
  get kinds(): readonly Kind[] {
    return this.current.kinds;
  }

  /** Returns a registry with the same declared kinds and more fixed ones; of `kinds` those whose name is not fixed yet. */
  with(kinds: readonly Kind[]): Registry {
    const known = new Set(this.fixed.map(({ name }) => name));
    return new Registry([...this.fixed, ...kinds.filter(({ name }) => !known.has(name))], this.declared);
  }

  /** Returns a registry with the same fixed kinds and those of another source. */
  declaring(source: KindSource): Registry {
    return new Registry(this.fixed, source);
  }

  /** Whether a definition of the source declares the kind with this name. */
  isDeclared(name: string): boolean {
    return (this.kind(name)?.declaredBy ?? '') !== '';
  }

  /** Returns the kind called `name` (`MeshService`, an alias like `XMesh`, or `PLURAL.GROUP` of a second kind), or undefined. */
  kind(name: string): Kind | undefined {
    return this.current.byName.get(name)?.kind;
  }

  /** Like `kind`, with the alias if `name` is one. */
  named(name: string): NamedKind | undefined {
    return this.current.byName.get(name);
  }

  /** Finds the kind of a document in the Kubernetes form by group, version and kind. */
  find(apiVersion: string, name: string): FoundKind {
    const of = parseApiVersion(apiVersion);
    const sameNamed = this.current.byBareName.get(name) ?? [];
    const found = sameNamed.find(({ kind, alias }) => isOfGroup(alias ?? kind, of));
    return found
      ? { found: true, ...found }
      : { found: false, sameNamed: sameNamed.map((one) => one.alias ?? one.kind) };
  }

  /** Returns the kind that REST serves under this plural, of the kind or an alias, or undefined. */
  collection(plural: string): NamedKind | undefined {
    return this.current.byPlural.get(plural);
  }

  /** Returns the kind whose plural, short name or lower-case name is `noun`, or undefined. */
  noun(noun: string): Kind | undefined {
    return this.current.byNoun.get(noun)?.kind;
  }

  /** Returns the kind name nearest to `word`, for error messages. */
  suggestKind(word: string): string | undefined {
    return nearest(word, [...this.current.byName.keys()]);
  }

  /** Returns the plural or short name nearest to `word`, for error messages. */
  suggestNoun(word: string): string | undefined {
    return nearest(word, [...this.current.byPlural.keys(), ...this.kinds.map((kind) => kind.shortName)]);
  }

  private get current(): Tables {
    if (this.tables?.version !== this.version) this.tables = new Tables(this.fixed, this.declared);
    return this.tables;
  }
}

type KindNames = Map<string, NamedKind>;

/** The names of the kinds of one version of a registry. */
class Tables {
  readonly version: number;
  readonly kinds: readonly Kind[];
  readonly byName: KindNames = new Map();
  readonly byPlural: KindNames = new Map();
  /** Kinds by the name without a group, which kinds of several groups may share. */
  readonly byBareName = new Map<string, NamedKind[]>();
  /** Plurals, short names and lower-case names. */
  readonly byNoun: KindNames = new Map();

  constructor(fixed: readonly Kind[], source: KindSource | undefined) {
    this.version = source?.version ?? 0;
    for (const kind of fixed) {
      const taken = this.add(kind);
      if (taken) throw new Error(`kinds ${taken.kind.name} and ${kind.name} are both called "${taken.word}"`);
    }
    const declared = (source?.kinds ?? []).filter((kind) => !this.add(kind));
    this.kinds = Object.freeze([...fixed, ...declared]);
  }

  /** Adds a kind, or returns the word that another kind already has. */
  private add(kind: Kind): { readonly word: string; readonly kind: Kind } | undefined {
    const named = [
      { name: kind.name, plural: kind.plural, entry: { kind } },
      ...kind.aliases.map((alias) => ({ name: alias.name, plural: alias.plural, entry: { kind, alias } })),
    ];
    const entries = named.flatMap(({ name, plural, entry }): [KindNames, string, NamedKind][] => [
      [this.byName, name, entry],
      [this.byPlural, plural, entry],
      [this.byNoun, plural, entry],
      [this.byNoun, name.toLowerCase(), entry],
    ]);
    entries.push([this.byNoun, kind.shortName, { kind }]);
    // A second kind of a name has one noun on every interface, even where others are called by their name: Roles,
    // audit, quarantine.
    if (kind.name !== kind.bareName) entries.push([this.byName, kind.plural, { kind }]);
    for (const [names, word] of entries) {
      const other = names.get(word);
      if (other) return { word, kind: other.kind };
    }
    for (const [names, word, entry] of entries) if (!names.has(word)) names.set(word, entry);
    for (const { name, entry } of [{ name: kind.bareName, entry: { kind } }, ...named.slice(1)]) {
      const sameNamed = this.byBareName.get(name);
      if (sameNamed) sameNamed.push(entry);
      else this.byBareName.set(name, [entry]);
    }
    return undefined;
  }
}
