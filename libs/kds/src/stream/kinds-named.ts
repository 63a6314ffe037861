import type { Registry } from '@causeway/resources';

/** Most kinds that one stream may name and that are not known here: Kuma has a few dozen that we lack. */
export const MOST_UNKNOWN_KINDS = 64;

/** What naming a kind means. */
export type KindNamed = 'known' | 'first' | 'again' | 'too-many';

/** The kinds that a peer names on one stream. Those that are not known here are counted, and only so many remembered. */
export class KindsNamed {
  private readonly unknown = new Set<string>();

  constructor(private readonly registry: Registry) {}

  /** `first`: it is not known here, and named for the first time. */
  name(kind: string): KindNamed {
    if (this.registry.kind(kind)) return 'known';
    if (this.unknown.has(kind)) return 'again';
    if (this.unknown.size >= MOST_UNKNOWN_KINDS) return 'too-many';
    this.unknown.add(kind);
    return 'first';
  }
}
