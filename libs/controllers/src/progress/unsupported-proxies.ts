import { proxyModes, type ZoneDataplaneMode } from './dataplane-modes';

/** A proxy that does not support a resource, for messages. */
export type UnsupportedProxy = { readonly zone?: string } & (
  | {
      readonly type: 'proxy';
      readonly proxy: string;
      readonly mode: ZoneDataplaneMode;
      readonly tcpPassthroughReason?: string;
    }
  /** A missing egress: none is connected that would apply it to services outside the mesh. */
  | { readonly type: 'noEgress' }
  /** Formatted by the zone in its report. */
  | { readonly type: 'reported'; readonly text: string }
);

/** The number of proxies of one kind that do not support a resource. */
export interface UnsupportedCount {
  /** `noEgress`: zones without an egress. `unknown`: proxies that an older zone reports without their mode. */
  readonly mode: ZoneDataplaneMode | 'noEgress' | 'unknown';
  /** Whether they pass all traffic through as TCP. */
  readonly isTcpPassthrough: boolean;
  readonly count: number;
}

/** All proxies that do not support a resource. */
export interface UnsupportedProxies {
  readonly total: number;
  /** Complete; in the order of the modes. */
  readonly counts: readonly UnsupportedCount[];
  /** The first of them by name. */
  readonly first: readonly UnsupportedProxy[];
}

/** Maximum number of names that are kept for a message. */
export const MAX_NAMES = 3;

export const NONE_UNSUPPORTED: UnsupportedProxies = { total: 0, counts: [], first: [] };

const ORDER: readonly UnsupportedCount['mode'][] = [...proxyModes, 'noEgress', 'unknown'];

/** Sums counts: one entry for each mode, with and without TCP passthrough, in the order of the modes. */
export function sumUnsupported(counts: Iterable<UnsupportedCount>): readonly UnsupportedCount[] {
  const sums = new Map<string, UnsupportedCount>();
  for (const one of counts) {
    const key = `${one.mode} ${one.isTcpPassthrough}`;
    sums.set(key, { ...one, count: one.count + (sums.get(key)?.count ?? 0) });
  }
  return ORDER.flatMap((mode) => [sums.get(`${mode} false`) ?? [], sums.get(`${mode} true`) ?? []].flat());
}

/** Merges the reports of several zones. */
export function mergeUnsupported(parts: readonly UnsupportedProxies[]): UnsupportedProxies {
  if (parts.length === 0) return NONE_UNSUPPORTED;
  return {
    total: parts.reduce((sum, { total }) => sum + total, 0),
    counts: sumUnsupported(parts.flatMap(({ counts }) => counts)),
    first: parts.flatMap(({ first }) => first).slice(0, MAX_NAMES),
  };
}
