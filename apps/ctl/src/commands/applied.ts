import type { Kind } from '@causeway/resources';

/** What `causeway apply` was told. */
export interface ApplyOptions {
  readonly filename: readonly string[];
  readonly mesh: string;
  readonly dryRun?: boolean;
  /** With a dry run: the zone whose view of the names is told. */
  readonly seenFrom?: string;
  /** With a label selector: what carries it and is not in the files is deleted. */
  readonly prune?: boolean;
  readonly selector?: string;
}

/** One document that was written, and where. */
export interface AppliedDocument {
  readonly kind: Kind;
  readonly mesh: string;
  readonly namespace: string;
  readonly name: string;
}
