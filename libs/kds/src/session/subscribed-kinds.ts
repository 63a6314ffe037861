import type { Registry } from '@causeway/resources';

/** Most kinds that one stream may name and that are not known here: Kuma has a few dozen that we lack. */
export const MAX_UNKNOWN_KINDS = 64;

/** What naming a kind means. */
export type KindVerdict = 'known' | 'first' | 'again' | 'too-many';

/** The kinds that a peer names on one stream. Those that are not known here are counted, and only so many remembered. */
export class SubscribedKinds {
  private readonly unknown = new Set<string>();

  constructor(private readonly registry: Registry) {}

  /** `first`: it is not known here, and named for the first time. */
  classify(kind: string): KindVerdict {
    if (this.registry.kind(kind)) return 'known';
    if (this.unknown.has(kind)) return 'again';
    if (this.unknown.size >= MAX_UNKNOWN_KINDS) return 'too-many';
    this.unknown.add(kind);
    return 'first';
  }
}
