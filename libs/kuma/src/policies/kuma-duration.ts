/** Formats a duration for Kuma (Go's form). `ms`: whole milliseconds. */
export const kumaDuration = (ms: number): string => (ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`);
