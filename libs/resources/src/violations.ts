import type { FieldPath, Violation, ViolationRule } from './violation';

/** Violations that a report spells out; those beyond are only counted. */
export const MOST_VIOLATIONS = 100;

/**
 * What a value breaks, as it is found: the first hundred violations are kept, all are counted. Beyond the first hundred
 * one more costs an addition: neither its path nor its reason is made.
 */
export class Violations {
  private readonly kept: Violation[] = [];
  private count = 0;

  /** `most` violations are kept; 0 only counts. */
  constructor(private readonly most = MOST_VIOLATIONS) {}

  /** The first violations, in the order in which they were found. */
  get first(): readonly Violation[] {
    return this.kept;
  }

  /** How many there are in all. */
  get total(): number {
    return this.count;
  }

  /** Notes that `at` breaks `rule`; `reason` is called only while violations are kept. */
  add(at: FieldPath, rule: ViolationRule, reason: () => string): void {
    this.count += 1;
    if (this.kept.length < this.most) this.kept.push(at.violation(reason(), rule));
  }

  /** Takes over violations that are already made. */
  addAll(violations: Iterable<Violation>): void {
    for (const violation of violations) {
      this.count += 1;
      if (this.kept.length < this.most) this.kept.push(violation);
    }
  }

  /** Takes over what another report found; violations that it only counted are counted here. */
  merge(other: Violations): void {
    this.addAll(other.first);
    this.count += other.total - other.first.length;
  }

  /** What `find` notes in a report of its own, with as much room as this one has left. */
  beside(find: (aside: Violations) => void): Violations {
    const aside = new Violations(this.most - this.kept.length);
    find(aside);
    return aside;
  }

  /** The same report with each violation put otherwise. */
  map(change: (violation: Violation) => Violation): Violations {
    const changed = new Violations(this.most);
    changed.addAll(this.kept.map(change));
    changed.count = this.count;
    return changed;
  }
}
