import { UsageError } from './context';

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Seconds of a duration such as `30d`, `1h30m` or `90s`; digits alone are seconds. Throws UsageError for other text. */
export function secondsOf(text: string, flag: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const parts = [...text.matchAll(/(\d{1,9})([smhdw])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text)
    throw new UsageError(`${flag}: "${text}" is no duration; it looks like 30d, 12h, 1h30m or 90s`);
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}
