import type { JsonObject, Kind } from '@causeway/resources';

/**
 * Spec fields of Kuma's documents that say nothing here and harm nobody when left out, with the reason that the user
 * is told. Fields whose loss would weaken a mesh (mtls, constraints) are not among them: those are refused.
 */
const IGNORED_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Mesh: {
    meshServices: 'was dropped: every mesh works with MeshServices here',
    skipCreatingInitialPolicies: 'was dropped: no policies are created with a mesh here',
  },
};

/** A user's spec without what only Kuma understands. */
export function dropIgnoredKumaFields(
  kind: Kind,
  spec: JsonObject,
): { readonly kept: JsonObject; readonly warnings: readonly string[] } {
  const leftovers = IGNORED_FIELDS[kind.name] ?? {};
  const dropped = Object.keys(spec).filter((key) => Object.hasOwn(leftovers, key));
  if (dropped.length === 0) return { kept: spec, warnings: [] };
  return {
    kept: Object.fromEntries(Object.entries(spec).filter(([key]) => !dropped.includes(key))),
    warnings: dropped.map((key) => `spec.${key}: ${leftovers[key] ?? ''}`),
  };
}

/** The fields of `dropIgnoredKumaFields` that a document of `kind` may have. */
export function ignoredKumaFields(kind: Kind | undefined): readonly string[] {
  return Object.keys((kind && IGNORED_FIELDS[kind.name]) ?? {});
}
