/** Faults that a run found, and its counts. */
export class Findings {
  private readonly lines = new Set<string>();
  private readonly counted = new Map<string, number>();
  private readonly durations = new Map<string, number[]>();

  /** A promise that was broken, each once. */
  broken(line: string): void {
    if (this.lines.has(line)) return;
    this.lines.add(line);
    console.log(`BROKEN ${line}`);
  }

  count(what: string, by = 1): void {
    this.counted.set(what, (this.counted.get(what) ?? 0) + by);
  }

  /** ms that something took. */
  took(what: string, ms: number): void {
    this.durations.set(what, [...(this.durations.get(what) ?? []), ms]);
  }

  get violations(): readonly string[] {
    return [...this.lines];
  }

  /** Counts by their name, and of each duration the median and the longest, ms. */
  figures(): Readonly<Record<string, unknown>> {
    const times = [...this.durations].map(([what, all]) => {
      const sorted = all.toSorted((a, b) => a - b).map(Math.round);
      return [what, { median: sorted[Math.floor(sorted.length / 2)], longest: sorted.at(-1), of: sorted.length }];
    });
    return { ...Object.fromEntries(this.counted), ...Object.fromEntries(times) };
  }
}
