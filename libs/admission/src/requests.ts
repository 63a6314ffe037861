import type { Identity, JsonObject, Kind, Labels } from '@causeway/resources';
import type { WriteContext } from './rights';

/** What a write's address says; without it (a file, a gRPC call) the document alone decides. */
export interface WriteAddress {
  readonly kind: Kind;
  /** Kinds of mesh scope: the mesh of the path. */
  readonly mesh?: string;
  /** Absent = the document's, else `default`. */
  readonly namespace?: string;
  /** Absent = made on this control plane. */
  readonly zone?: string;
  /** A plain name or a name of the KDS wire. */
  readonly name: string;
}

/** What every write may carry. */
export interface WriteOptions {
  readonly context: WriteContext;
  /** The header If-Match as it came. */
  readonly ifMatch?: string;
  /** Everything but the write. */
  readonly dryRun?: boolean;
}

export interface PutRequest extends WriteOptions {
  readonly body: unknown;
  readonly address?: WriteAddress;
}

export interface PatchRequest extends WriteOptions {
  /** RFC 7386, on the Universal form. */
  readonly patch: unknown;
  readonly address: WriteAddress;
}

export interface DeleteRequest extends WriteOptions {
  readonly address: WriteAddress;
}

/** What became of a put or patch. */
export interface WriteOutcome {
  readonly outcome: 'created' | 'updated' | 'unchanged';
  readonly id: Identity;
  /** The store's revision that has the write; on a dry run that of the stored row, 0 where there is none. */
  readonly revision: number;
  /** Absent on a dry run that would change something. */
  readonly etag?: string;
  readonly warnings: readonly string[];
  /** What is stored now, or would be. */
  readonly labels: Labels;
  readonly spec: JsonObject;
}

/** What became of a delete. */
export interface DeleteOutcome {
  readonly outcome: 'deleted';
  readonly id: Identity;
  /** As in `WriteOutcome`. */
  readonly revision: number;
}
