import { Conflict, type Identity, type JsonObject, type Kind, type Labels } from '@causeway/resources';
import type { WriteContext } from './rights';

/** Address of a write, from its URL. Without it (a file, a gRPC call) the document alone decides. */
export interface WriteAddress {
  readonly kind: Kind;
  /** The mesh in the path; for kinds of mesh scope. */
  readonly mesh?: string;
  /** Absent = the document's namespace, else `default`. */
  readonly namespace?: string;
  /** Absent = made on this control plane. */
  readonly zone?: string;
  /** A plain name or a name as on the KDS wire. */
  readonly name: string;
}

/** Options of every write. */
export interface WriteOptions {
  readonly context: WriteContext;
  /** The header If-Match, unparsed. */
  readonly ifMatch?: string;
  /** Run every check and write nothing. */
  readonly dryRun?: boolean;
  /** Values of server-owned spec fields, set by the control plane itself only. */
  readonly serverOwned?: JsonObject;
}

/** A request to create or replace. */
export interface PutRequest extends WriteOptions {
  readonly body: unknown;
  readonly address?: WriteAddress;
}

/** A request to change single fields. */
export interface PatchRequest extends WriteOptions {
  /** A merge patch (RFC 7386) of the Universal form. */
  readonly patch: unknown;
  readonly address: WriteAddress;
}

/** A request to delete. */
export interface DeleteRequest extends WriteOptions {
  readonly address: WriteAddress;
  /** Marks a Mesh with members with the label `causeway.io/terminating`, so that it accepts no new ones. */
  readonly terminate?: boolean;
  /** Deletes a Zone although it is Online. */
  readonly force?: boolean;
}

/** The result of a put or patch. */
export interface WriteOutcome {
  readonly outcome: 'created' | 'updated' | 'unchanged';
  readonly id: Identity;
  /** The store revision that contains the write. In a dry run the revision of the stored row, 0 if there is none. */
  readonly revision: number;
  /** Absent on a dry run that would write. */
  readonly etag?: string;
  readonly warnings: readonly string[];
  /** In the form that this write stored, or that a dry run would store. */
  readonly labels: Labels;
  readonly spec: JsonObject;
}

/** The result of a delete. */
export interface DeleteOutcome {
  readonly outcome: 'deleted';
  readonly id: Identity;
  /** As in `WriteOutcome`. */
  readonly revision: number;
  /** The cost of a forced deletion. */
  readonly warnings: readonly string[];
}

/** If-Match does not match the stored state. REST answers 412; other conflicts are 409. */
export class PreconditionFailed extends Conflict {}

/** Identifies one state of a resource: its uid and its generation (docs/design.md §1, Two versions). */
export function formatEtag(resource: { readonly uid: string; readonly generation: number }): string {
  return `"${resource.uid}.${resource.generation}"`;
}

/**
 * Throws PreconditionFailed unless `ifMatch` (a list of ETags or `*`) names the stored state. Weak ETags never match
 * (RFC 9110 §13.1.1). Without `ifMatch` there is no condition.
 */
export function checkPrecondition(
  ifMatch: string | undefined,
  stored: { readonly uid: string; readonly generation: number } | undefined,
): void {
  if (ifMatch === undefined) return;
  if (!stored) throw new PreconditionFailed(`If-Match ${ifMatch}: there is no such resource`);
  const wanted = ifMatch.split(',').map((tag) => tag.trim());
  if (wanted.includes('*') || wanted.includes(formatEtag(stored))) return;
  throw new PreconditionFailed(`If-Match ${ifMatch}: the resource is now at ${formatEtag(stored)}; read it again`);
}
