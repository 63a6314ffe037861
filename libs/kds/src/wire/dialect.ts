/** Names of our extensions in the handshake (docs/design.md §5). */
export const Extension = {
  json: 'cw-json',
  meta: 'cw-meta',
  chunk: 'cw-chunk',
  resume: 'cw-resume',
  result: 'cw-result',
  kinds: 'cw-kinds',
  order: 'cw-order',
  groups: 'cw-groups',
} as const;

/** Encoding of resources for one peer: `json` for our specs as JSON, else Kuma's messages; `meta` with our metadata. */
export interface Dialect {
  readonly json: boolean;
  readonly meta: boolean;
}

/** For a plain Kuma peer. */
export const KUMA_DIALECT: Dialect = Object.freeze({ json: false, meta: false });

/** For a Causeway peer with all extensions. */
export const CAUSEWAY_DIALECT: Dialect = Object.freeze({ json: true, meta: true });

/** The dialect of a session with these extensions. */
export function dialectOf(features: Iterable<string>): Dialect {
  const used = new Set(features);
  return { json: used.has(Extension.json), meta: used.has(Extension.meta) };
}

/** The extensions that both sides know, in the order of `ours`. */
export function sharedExtensions(ours: readonly string[], theirs: Iterable<string>): readonly string[] {
  const known = new Set(theirs);
  return ours.filter((feature) => known.has(feature));
}
