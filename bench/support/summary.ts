/** Summarises durations in ms, rounded to hundredths of a ms. */
export function summary(times: readonly number[]): Readonly<Record<string, number>> {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): number =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  const mean = sorted.reduce((sum, time) => sum + time, 0) / Math.max(1, sorted.length);
  return {
    tries: sorted.length,
    p50_ms: at(0.5),
    p90_ms: at(0.9),
    p99_ms: at(0.99),
    max_ms: round(sorted.at(-1) ?? 0),
    mean_ms: round(mean),
  };
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
