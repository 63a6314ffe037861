/** Names of our extensions in the handshake (design.md §5). */
export const Extension = {
  json: 'cw-json',
  meta: 'cw-meta',
  chunk: 'cw-chunk',
  resume: 'cw-resume',
  result: 'cw-result',
} as const;

/** How resources are said to one peer: as JSON of our specs or in Kuma's language, with our facts or without. */
export interface Dialect {
  readonly json: boolean;
  readonly meta: boolean;
}

/** What a plain Kuma peer understands. */
export const KUMA_DIALECT: Dialect = Object.freeze({ json: false, meta: false });

/** What a Causeway peer with all extensions understands. */
export const CAUSEWAY_DIALECT: Dialect = Object.freeze({ json: true, meta: true });

/** The dialect that follows from the extensions in use on a session. */
export function dialectOf(features: Iterable<string>): Dialect {
  const used = new Set(features);
  return { json: used.has(Extension.json), meta: used.has(Extension.meta) };
}

/** The extensions that both sides know, in the order of `ours`. */
export function sharedExtensions(ours: readonly string[], theirs: Iterable<string>): readonly string[] {
  const known = new Set(theirs);
  return ours.filter((feature) => known.has(feature));
}
