import { FieldPath, type Violation } from '@causeway/resources';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Maximum validity of a token: Kuma's default, 10 years (docs/reference/kuma-rest.md §5.6), ms. */
const MAX_VALIDITY = 10 * 365 * 24 * 3_600_000;

/** A requested validity, or why it is invalid. */
export type ParsedValidity =
  { readonly ok: true; readonly ms: number } | { readonly ok: false; readonly reason: string };

/** Reads a duration as Go and Kuma write it, and days: `720h`, `1h30m`, `30d`. */
export function parseValidity(text: unknown): ParsedValidity {
  const wanted = 'must be a duration such as 720h, 1h30m or 30d';
  if (typeof text !== 'string' || text.length > 100 || !/^(\d{1,9}(ms|s|m|h|d))+$/.test(text))
    return { ok: false, reason: wanted };
  const parts = [...text.matchAll(/(\d+)(ms|s|m|h|d)/g)];
  const ms = parts.reduce((sum, [, count = '0', unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
  if (ms < 1_000) return { ok: false, reason: `${wanted}, at least 1s; got "${text}"` };
  return ms > MAX_VALIDITY
    ? { ok: false, reason: `must not be longer than 87600h (10 years); got "${text}"` }
    : { ok: true, ms };
}

/** Returns the problems of a requested validity, as violations of the field `validFor`. */
export function validityViolations(validity: ParsedValidity): readonly Violation[] {
  return validity.ok ? [] : [FieldPath.at('validFor').violation(validity.reason)];
}
