import { Invalid, Violations, type FieldPath, type ViolationRule } from '@causeway/resources';

/** Warnings that an answer lists. */
const MOST_WARNINGS = 100;

/** What a document breaks and what it probably does not mean, collected while it is read. */
export class DocumentReport {
  readonly violations = new Violations();
  private readonly noted: string[] = [];

  get warnings(): readonly string[] {
    return this.noted;
  }

  /** Notes that `at` breaks a rule. */
  refuse(at: FieldPath, reason: string, rule: ViolationRule = 'invalid'): void {
    this.violations.add(at, rule, () => reason);
  }

  /** Notes what is legal but most likely not meant. */
  warn(...warnings: readonly string[]): void {
    for (const warning of warnings) if (this.noted.length < MOST_WARNINGS) this.noted.push(warning);
  }
}

/** Throws Invalid when there are violations; it lists the first hundred and says how many there are. */
export function throwIfInvalid(violations: Violations): void {
  if (violations.total > 0) throw new Invalid(violations);
}
