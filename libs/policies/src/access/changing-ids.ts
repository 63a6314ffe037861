/** The ids of a zone while their format changes: those of its trust domains, in these namespaces. */
export interface ChangingIds {
  readonly domains: readonly string[];
  readonly namespaces: readonly string[];
}

/**
 * Returns, while the format changes, the ids with a namespace of the workloads that have this id in the format without
 * one. Only these workloads ever have them, so rules for this id also apply to them.
 */
export function namespacedIds(uri: string, changing: readonly ChangingIds[]): readonly string[] {
  const parts = parsePresetSpiffeId(uri);
  if (!parts || parts.namespace !== undefined) return [];
  return changing
    .filter(({ domains }) => domains.includes(parts.trustDomain))
    .flatMap(({ namespaces }) => namespaces.map((namespace) => presetSpiffeId({ ...parts, namespace })));
}

/** Returns revoked ids and, while the format changes, their equivalents. Sorted. */
export function revokedIds(revoked: readonly string[], changing: readonly ChangingIds[]): readonly string[] {
  if (revoked.length === 0 || changing.length === 0) return revoked;
  return [...new Set([...revoked, ...revoked.flatMap((uri) => namespacedIds(uri, changing))])].sort();
}

/** Returns, while the format changes, the id without a namespace of the workload that has this one; undefined if it has none. */
export function formerId(
  uri: string,
  changing: readonly ChangingIds[],
): { readonly namespace: string; readonly uri: string } | undefined {
  const { namespace, ...parts } = parsePresetSpiffeId(uri) ?? { trustDomain: '', workload: '' };
  const isChanging = changing.some(
    ({ domains, namespaces }) =>
      namespace !== undefined && domains.includes(parts.trustDomain) && namespaces.includes(namespace),
  );
  return namespace !== undefined && isChanging ? { namespace, uri: presetSpiffeId(parts) } : undefined;
}

/** Ids in the other format that a prefix of SPIFFE ids covers; the prefix is in one format and ends with a slash. */
export interface ChangingPrefixes {
  /** All ids with one of these prefixes. */
  readonly namespaced: readonly string[];
  /** Ids with this prefix whose workloads are in these namespaces. */
  readonly former: readonly { readonly prefix: string; readonly namespaces: readonly string[] }[];
}

/**
 * Returns, while the format changes, the ids in the other format that a prefix of SPIFFE ids covers besides those that
 * begin with it.
 */
export function changingPrefixes(prefix: string, changing: readonly ChangingIds[]): ChangingPrefixes {
  const namespaced: string[] = [];
  const former: { prefix: string; namespaces: readonly string[] }[] = [];
  for (const { domains, namespaces } of changing)
    for (const domain of domains) {
      const [all, workloads] = [`spiffe://${domain}/`, `spiffe://${domain}/workload/`];
      if (all.startsWith(prefix)) continue;
      const below = (namespace: string): string => `spiffe://${domain}/ns/${namespace}/workload/`;
      if (prefix === workloads) namespaced.push(...namespaces.map(below));
      const taken = namespaces.filter((namespace) => below(namespace).startsWith(prefix));
      if (taken.length > 0) former.push({ prefix: workloads, namespaces: taken });
    }
  return { namespaced, former };
}

/** Parts of a SPIFFE id with a preset path; `namespace` is absent in the format without one. */
interface PresetSpiffeId {
  readonly trustDomain: string;
  readonly namespace?: string;
  readonly workload: string;
}

const PRESET = /^spiffe:\/\/([^/]+)(?:\/ns\/([^/]+))?\/workload\/([^/]+)$/;

/** Parses a SPIFFE id with a preset path; undefined for any other. */
function parsePresetSpiffeId(uri: string): PresetSpiffeId | undefined {
  const [, trustDomain, namespace, workload] = PRESET.exec(uri) ?? [];
  if (trustDomain === undefined || workload === undefined) return undefined;
  return { trustDomain, workload, ...(namespace !== undefined && { namespace }) };
}

/** Formats a SPIFFE id from its parts. */
function presetSpiffeId({ trustDomain, namespace, workload }: PresetSpiffeId): string {
  return `spiffe://${trustDomain}${namespace === undefined ? '' : `/ns/${namespace}`}/workload/${workload}`;
}
