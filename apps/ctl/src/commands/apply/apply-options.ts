/** Options of `causeway apply`. */
export interface ApplyOptions {
  readonly filename: readonly string[];
  readonly mesh: string;
  readonly dryRun?: boolean;
  /** Write all documents or none. */
  readonly atomic?: boolean;
  /** With a dry run on the global: the zone whose view of the names is printed. */
  readonly seenFrom?: string;
  /** Delete resources that match `selector` and are not in the files. */
  readonly prune?: boolean;
  readonly selector?: string;
}
