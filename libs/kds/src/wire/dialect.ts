import type { SourceForm } from '@causeway/kinds';

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
  sources: 'cw-sources',
} as const;

/** Encoding of resources for one peer: with `json` our specs as JSON, else Kuma's messages; with `meta` our metadata. */
export interface Dialect {
  readonly json: boolean;
  readonly meta: boolean;
  /** The form of certificate sources that the peer reads. `any`: both forms, and `usedBy` of Secrets (cw-sources). */
  readonly sources: 'any' | SourceForm;
}

/** For a plain Kuma peer up to 2.14.5. */
export const KUMA_DIALECT: Dialect = Object.freeze({ json: false, meta: false, sources: 'untyped' });

/** Returns the dialect of a session with these extensions; `form` is the form for a peer without cw-sources. */
export function computeDialect(features: Iterable<string>, form: SourceForm = 'untyped'): Dialect {
  const used = new Set(features);
  const sources = used.has(Extension.sources) ? 'any' : form;
  return { json: used.has(Extension.json), meta: used.has(Extension.meta), sources };
}

/** Returns the extensions that both sides support, in the order of `ours`. */
export function sharedExtensions(ours: readonly string[], theirs: Iterable<string>): readonly string[] {
  const known = new Set(theirs);
  return ours.filter((feature) => known.has(feature));
}

/** Kinds whose specs differ by `Dialect.sources`. */
const WITH_SOURCES: readonly string[] = ['MeshExternalService', 'Secret'];

/**
 * Returns the part of a dialect that affects the resources of a kind that a peer gets: a peer that was sent another form before starts with the full
 * state.
 */
export function sourcesView(kind: string, { sources }: Dialect): string {
  return sources === 'any' && WITH_SOURCES.includes(kind) ? '+sources' : '';
}
