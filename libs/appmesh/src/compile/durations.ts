import type { Duration } from '../model';

/** Converts a duration to milliseconds. */
export const toMilliseconds = ({ unit, value }: Duration): number => (unit === 's' ? value * 1_000 : value);

/** Formats a duration as in GEP-2257: at most five digits per part, so durations above a day are written in hours. */
export function gatewayDuration(duration: Duration): string {
  const ms = toMilliseconds(duration);
  if (ms < 1_000) return `${ms}ms`;
  const [hours, seconds, rest] = [Math.floor(ms / 3_600_000), Math.floor((ms % 3_600_000) / 1_000), ms % 1_000];
  return `${hours > 0 ? `${hours}h` : ''}${seconds > 0 ? `${seconds}s` : ''}${rest > 0 ? `${rest}ms` : ''}`;
}

/** Formats an interval in one unit, from 100ms to 24h, as policies expect it; undefined if it is out of range. */
export function formatInterval(duration: Duration): string | undefined {
  const ms = toMilliseconds(duration);
  if (ms < 100 || ms > 86_400_000) return undefined;
  if (ms % 1_000 !== 0) return ms <= 99_999 ? `${ms}ms` : undefined;
  const seconds = ms / 1_000;
  if (seconds <= 9_999) return `${seconds}s`;
  if (seconds % 60 === 0 && seconds / 60 <= 999) return `${seconds / 60}m`;
  return seconds % 3_600 === 0 ? `${seconds / 3_600}h` : undefined;
}
