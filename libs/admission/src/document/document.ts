import type { FieldPath, Identity, JsonObject, Kind, Labels, Violations } from '@causeway/resources';

/** Facts from the URL of a request about the document in its body. The body decides about absent fields. */
export interface WriteTarget {
  readonly kind?: Kind;
  readonly mesh?: string;
  /** The mesh of a document that names none. */
  readonly meshIfAbsent?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** A user's document, independent of its form. Only its envelope has been checked. */
export interface Draft {
  readonly kind: Kind;
  /** Empty for kinds of global scope. */
  readonly mesh: string;
  /** Empty for kinds without namespaces. */
  readonly namespace: string;
  readonly name: string;
  /** As the user wrote them, computed labels included. */
  readonly labels: Labels;
  readonly spec: JsonObject;
}

/** A decoded document with the violations of its envelope. */
export interface DecodedDocument {
  readonly draft: Draft;
  /** False if document and target leave the mesh of a kind of mesh scope open: that of the draft is a placeholder. */
  readonly namesMesh: boolean;
  /** Whether the document itself names the mesh. */
  readonly meshInBody: boolean;
  /** The field that has the labels, for messages. */
  readonly labelsAt: FieldPath;
  readonly violations: Violations;
  readonly warnings: readonly string[];
}

/** The identity of a draft that is made in `zone` (empty on the global and for kinds that no zone owns). */
export function draftIdentity(draft: Draft, zone: string): Identity {
  const { kind, mesh, namespace, name } = draft;
  return { kind: kind.name, mesh, zone: kind.sync.zoneInIdentity ? zone : '', namespace, name };
}
