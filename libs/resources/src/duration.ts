const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The milliseconds of a duration in a resource, such as 500ms, 10s, 5m or 1h; undefined for another text. */
export function durationMs(text: string): number | undefined {
  const [, number, unit = ''] = /^([0-9]+)(ms|s|m|h)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}
