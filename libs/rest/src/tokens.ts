/** What Nest hands to the endpoints, by symbol, so that nothing depends on emitted decorator metadata. */
export const READS = Symbol('ResourceReads');
export const WRITES = Symbol('ResourceWrites');
