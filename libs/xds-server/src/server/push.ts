import type { EncodedResource } from '../resources/encoded-resource';

/** Bytes of resources in one response; one resource may be larger. */
export const CHUNK_BYTES = 512 * 1024;

/** The resources of one type to be sent. */
export interface Push {
  readonly resources: readonly EncodedResource[];
  readonly removed: readonly string[];
  /** Those of `resources` that the proxy lacks. */
  readonly changed: readonly EncodedResource[];
}

/** A response that is not acked yet. */
export interface InFlight extends Push {
  readonly nonce: string;
  readonly at: number;
  readonly bytes: number;
  /** The first revision whose changes it holds. */
  readonly since: number;
  /** The first mark that it holds. */
  readonly oldestMark: number;
}

/** Options of taking the next response. */
export interface TakeOptions {
  /** It also has what is going. */
  readonly mayRemove: boolean;
  /**
   * The proxy has asked for no listener yet. An Envoy asks for them once its clusters are ready, and 1.40 waits for ever for a cluster
   * whose endpoints it was about to discover when another kind of cluster took its name: that one goes first, and comes anew.
   */
  readonly isStarting: boolean;
}
