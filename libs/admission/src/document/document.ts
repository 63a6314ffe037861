import type { FieldPath, Identity, JsonObject, Kind, Labels, Violations } from '@causeway/resources';

/** Facts from the URL of a request about the document in its body. Absent fields are taken from the body. */
export interface WriteTarget {
  readonly kind?: Kind;
  readonly mesh?: string;
  /** The mesh of a document without one. */
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
  /** In the user's form, including computed labels. */
  readonly labels: Labels;
  readonly spec: JsonObject;
}

/** A decoded document with the violations of its envelope. */
export interface DecodedDocument {
  readonly draft: Draft;
  /** False if neither document nor target names the mesh of a mesh-scoped kind: the draft's mesh is then a placeholder. */
  readonly namesMesh: boolean;
  /** Whether the document itself names its mesh. */
  readonly meshInBody: boolean;
  /** The field that contains the labels, for messages. */
  readonly labelsAt: FieldPath;
  readonly violations: Violations;
  readonly warnings: readonly string[];
}

/** Returns the identity of a draft created in `zone` (empty on the global and for kinds that no zone owns). */
export function draftIdentity(draft: Draft, zone: string): Identity {
  const { kind, mesh, namespace, name } = draft;
  return { kind: kind.name, mesh, zone: kind.sync.zoneInIdentity ? zone : '', namespace, name };
}
