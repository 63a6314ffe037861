const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Longest life of a token: Kuma's default, 10 years (rest.md §5.6), ms. */
const MAX_VALIDITY = 10 * 365 * 24 * 3_600_000;

/** How long a token is to be valid. */
export type ParsedValidity =
  { readonly ok: true; readonly ms: number } | { readonly ok: false; readonly reason: string };

/** Reads a duration as Go and Kuma write it: `720h`, `1h30m`. */
export function parseValidity(text: unknown): ParsedValidity {
  const wanted = 'must be a duration such as 720h or 1h30m';
  if (typeof text !== 'string' || !/^(\d{1,9}(ms|s|m|h))+$/.test(text)) return { ok: false, reason: wanted };
  const parts = [...text.matchAll(/(\d+)(ms|s|m|h)/g)];
  const ms = parts.reduce((sum, [, count = '0', unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
  if (ms < 1_000) return { ok: false, reason: `${wanted}, at least 1s; got "${text}"` };
  return ms > MAX_VALIDITY
    ? { ok: false, reason: `must not be longer than 87600h (10 years); got "${text}"` }
    : { ok: true, ms };
}
