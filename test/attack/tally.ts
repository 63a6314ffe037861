/** Counts of each outcome by attack: `{ "hostile PUT": { "422": 7 } }`. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

const LONGEST = 70;
const MOST_OUTCOMES = 12;

/** Counts what became of the single blows of an attack. */
export class Tally {
  private readonly counts = new Map<string, Map<string, number>>();

  /** Names an attack that has not struck yet. */
  expect(attack: string): void {
    this.counts.set(attack, this.counts.get(attack) ?? new Map<string, number>());
  }

  /** Counts an answer of HTTP. */
  status(attack: string, status: number): void {
    this.count(attack, `HTTP ${status}`);
  }

  /** Counts any other outcome; numbers in it are made alike, so that equal reasons count as one. */
  note(attack: string, outcome: string): void {
    const plain = outcome.replace(/\d+/g, '#').replace(/[^ -~]/g, '?');
    this.count(attack, plain.slice(0, LONGEST));
  }

  counted(): Counts {
    return Object.fromEntries([...this.counts].map(([attack, outcomes]) => [attack, Object.fromEntries(outcomes)]));
  }

  private count(attack: string, outcome: string): void {
    const outcomes = this.counts.get(attack) ?? new Map<string, number>();
    this.counts.set(attack, outcomes);
    const key = outcomes.has(outcome) || outcomes.size < MOST_OUTCOMES ? outcome : 'other';
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
  }
}
