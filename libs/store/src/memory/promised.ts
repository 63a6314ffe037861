/** The outcome of `work`, done at once, as a promise: what it throws becomes a rejection. */
export function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}
