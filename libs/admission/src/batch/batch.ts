import type { DomainError, Identity, JsonObject } from '@causeway/resources';
import type { WriteContext } from '../rights';
import type { TextPosition } from '@causeway/yaml';

/** Maximum number of documents of one batch. */
export const MAX_BATCH = 10_000;

/** Maximum number of keys and values of all documents of a batch: a small value needs much more memory than text. */
export const MAX_BATCH_VALUES = 2_000_000;

/** One document of a batch. */
export interface BatchDocument {
  /** The value of the document; an Unparsable if it could not be parsed: the document is then refused. */
  readonly body: unknown;
  /** Position of the document in its text. */
  readonly position?: TextPosition;
}

/** A request to create or replace many resources. */
export interface BatchRequest {
  /** In the order in which they are created; at most `MAX_BATCH`. */
  readonly documents: readonly BatchDocument[];
  readonly context: WriteContext;
  /** Write all documents or none; otherwise each is written by itself. */
  readonly atomic?: boolean;
  /** Run every check, compare, and write nothing. */
  readonly dryRun?: boolean;
  /** The mesh of documents without one; default: `default`. */
  readonly mesh?: string;
  /** Aborts the batch before it writes; a write that has begun is finished. */
  readonly signal?: AbortSignal;
  /** Called periodically with the progress of the batch. */
  readonly progress?: (progress: BatchWriteProgress) => void;
}

/** Progress of a batch: the number of checked documents, and of durable changes. */
export interface BatchWriteProgress {
  readonly checked: number;
  readonly written: number;
}

/** Changes of a dry run: the parts of the document that users own. Values of confidential kinds are left out. */
export interface DocumentDiff {
  /** Absent if the resource would be created. */
  readonly before?: JsonObject;
  readonly after: JsonObject;
}

/** Common part of every result. */
interface ResultPlace {
  /** Index of the document in the batch. */
  readonly index: number;
  readonly position?: TextPosition;
}

/** A document that is stored, or that a dry run would store. */
export interface AppliedResult extends ResultPlace {
  readonly outcome: 'created' | 'updated' | 'unchanged';
  readonly id: Identity;
  /** As in `WriteOutcome`. */
  readonly revision: number;
  readonly etag?: string;
  readonly warnings: readonly string[];
  /** On a dry run, unless the outcome is `unchanged`. */
  readonly diff?: DocumentDiff;
}

/** A document that cannot be written. */
interface RefusedResult extends ResultPlace {
  readonly outcome: 'refused';
  /** Absent if the document does not say which resource it is. */
  readonly id?: Identity;
  /** Why; Unavailable if the database failed during the write, so that it may or may not be stored. */
  readonly error: DomainError;
  /** Index of another document of the same resource, if that is the reason. */
  readonly sameAs?: number;
}

/** A valid document of an atomic batch that was not written, because another one was refused. */
interface SkippedResult extends ResultPlace {
  readonly outcome: 'skipped';
  readonly id: Identity;
}

export type BatchResult = AppliedResult | RefusedResult | SkippedResult;

/** The result of a batch. */
export interface BatchOutcome {
  /** One for each document, in their order. */
  readonly results: readonly BatchResult[];
  /** Store revision: a reader that has seen it has seen the batch. */
  readonly revision: number;
}
