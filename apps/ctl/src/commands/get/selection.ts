import type { Kind, Registry } from '@causeway/resources';
import { kindOf } from '../../context';
import { namedBy } from '../../refs';

/** Resources of one kind: all, or these. */
export interface Selection {
  readonly kind: Kind;
  readonly names: readonly string[];
}

/**
 * What the arguments of a command name: `KIND[,KIND...]`, `KIND[,KIND...] NAME...` or `KIND/NAME...`. Kinds come in the
 * order of the arguments, each once. Throws UsageError.
 */
export function selectionsOf(registry: Registry, [first = '', ...rest]: readonly string[]): readonly Selection[] {
  if (!first.includes('/')) {
    const kinds = new Set(first.split(',').map((noun) => kindOf(registry, noun)));
    return [...kinds].map((kind) => ({ kind, names: rest }));
  }
  const byKind = new Map<Kind, string[]>();
  for (const each of [first, ...rest]) {
    const { kind, name } = namedBy(registry, each);
    byKind.set(kind, [...(byKind.get(kind) ?? []), name]);
  }
  return [...byKind].map(([kind, names]) => ({ kind, names }));
}

/** A resource as `-o name` shows it and commands take it: `meshservice/redis`. */
export function nounOf(kind: Kind, name: string): string {
  return `${kind.name.toLowerCase()}/${name}`;
}
