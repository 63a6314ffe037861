import type { JsonObject, Labels, OriginRevision } from '@causeway/resources';

/** What a resource or a removal is called on the wire. */
export interface WireKey {
  readonly name: string;
  /** Empty for kinds of global scope. */
  readonly mesh: string;
}

/** Facts about a resource that only Causeway peers tell each other (design.md §5 cw-meta). */
export interface WireMeta {
  readonly uid: string;
  /** Zone of origin; empty for what was made on the global. */
  readonly zone: string;
  readonly namespace: string;
  readonly generation: number;
  /** µs since 1970; 0 = unknown. */
  readonly creationOrder: number;
  readonly origin: OriginRevision;
}

/**
 * One resource at the border between our model and the messages: plain data, names and labels as on the wire, spec
 * and status always in our language.
 */
export interface WireResource extends WireKey {
  readonly kind: string;
  readonly labels: Labels;
  readonly spec: JsonObject;
  readonly status?: JsonObject;
  /** Absent from peers without `cw-meta`. */
  readonly meta?: WireMeta;
}

/** What of a received resource could not be taken in, and why; it counts as handled (design.md §5). */
export interface WireFault extends WireKey {
  readonly kind: string;
  readonly reason: string;
}

/** A removal as in `removed_resources`: `name.mesh`, with the dot also for global scope (kds.md §2.4). */
export function formatWireKey(key: WireKey): string {
  return `${key.name}.${key.mesh}`;
}

/** Splits at the last dot; without a dot the scope is global (kds.md §2.4). */
export function parseWireKey(text: string): WireKey {
  const dot = text.lastIndexOf('.');
  return dot < 0 ? { name: text, mesh: '' } : { name: text.slice(0, dot), mesh: text.slice(dot + 1) };
}
