import type { EncodedResource } from '../resources/encoded-resource';

/** Maximum size of the resources in one response, bytes; a single resource may be larger. */
export const CHUNK_BYTES = 512 * 1024;

/** The resources of one type to send. */
export interface Push {
  readonly resources: readonly EncodedResource[];
  readonly removed: readonly string[];
  /** The resources that the proxy lacks. */
  readonly changed: readonly EncodedResource[];
}

/** An unacknowledged response. */
export interface InFlight extends Push {
  readonly nonce: string;
  readonly at: number;
  readonly bytes: number;
  /** The first revision whose changes it contains. */
  readonly since: number;
  /** The first mark that it contains. */
  readonly oldestMark: number;
}

/** Options for taking the next response. */
export interface TakeOptions {
  /** Whether the response may contain removals. */
  readonly mayRemove: boolean;
  /**
   * Whether the proxy has not requested listeners yet. Envoy requests them once its clusters are ready, and 1.40 waits forever for a cluster that
   * changes from EDS to another discovery type in that phase: such a cluster is removed first, and added again.
   */
  readonly isStarting: boolean;
}
