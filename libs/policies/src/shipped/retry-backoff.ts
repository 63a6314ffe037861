import { goDurationMs } from '@causeway/resources';
import type { RetrySpec } from './retry-policy';

/** Envoy's default and minimum base wait, ms. */
const DEFAULT_BASE = 25;
const LEAST = 1;
/** Default maximum wait, as a multiple of the first wait. */
const MAX_WAIT_FACTOR = 10;

/** Returns the waits before retries, ms: at most `base` before the first and `max` before any; `max` is never below `base`. */
export function backoffTimes({ base, max }: NonNullable<RetrySpec['backoff']> = {}): {
  readonly base: number;
  readonly max: number;
} {
  const longest = max === undefined ? undefined : (goDurationMs(max) ?? 0);
  const first = base === undefined ? Math.min(DEFAULT_BASE, longest ?? DEFAULT_BASE) : (goDurationMs(base) ?? 0);
  const shortest = Math.max(LEAST, first);
  return { base: shortest, max: Math.max(shortest, longest ?? shortest * MAX_WAIT_FACTOR) };
}
