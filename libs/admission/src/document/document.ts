import type { FieldPath, Identity, JsonObject, Kind, Labels, Violations } from '@causeway/resources';

/** What a request's address says about the document in its body; what is absent the body decides. */
export interface Target {
  readonly kind?: Kind;
  readonly mesh?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** A user's document in one shape, whatever form it came in. Nothing is judged yet but its envelope. */
export interface Draft {
  readonly kind: Kind;
  /** Empty for kinds of global scope. */
  readonly mesh: string;
  /** Empty for kinds without namespaces. */
  readonly namespace: string;
  readonly name: string;
  /** As the user wrote them; computed ones may be among them. */
  readonly labels: Labels;
  readonly spec: JsonObject;
}

/** A document that was read, with everything its envelope breaks. */
export interface DecodedDocument {
  readonly draft: Draft;
  /** Where the document has its labels, for messages. */
  readonly labelsAt: FieldPath;
  readonly violations: Violations;
  readonly warnings: readonly string[];
}

/** The identity a draft has when it is made in `zone` (empty on the global and for kinds that no zone owns). */
export function draftIdentity(draft: Draft, zone: string): Identity {
  const { kind, mesh, namespace, name } = draft;
  return { kind: kind.name, mesh, zone: kind.sync.zoneInIdentity ? zone : '', namespace, name };
}
