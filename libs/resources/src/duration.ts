const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Returns the milliseconds of a duration in a resource, such as 500ms, 10s, 5m or 1h; undefined for other text. */
export function durationMs(text: string): number | undefined {
  const [, number, unit = ''] = /^([0-9]+)(ms|s|m|h)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}

/** Returns the milliseconds of a duration in Go's format, such as 24h, 1h30m or 24h0m0s; undefined for other text. */
export function goDurationMs(text: string): number | undefined {
  if (!/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/([0-9.]+)(ms|s|m|h)/g)];
  return Math.round(parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNITS[unit] ?? 0), 0));
}
