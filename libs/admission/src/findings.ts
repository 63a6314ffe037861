import type { FieldPath, Violation } from '@causeway/resources';

/** What a document breaks and what it probably does not mean, collected while it is read. */
export class Findings {
  readonly violations: Violation[] = [];
  readonly warnings: string[] = [];

  /** Notes that `at` breaks a rule. */
  refuse(at: FieldPath, reason: string): void {
    this.violations.push(at.violation(reason));
  }

  /** Takes over what was found elsewhere. */
  add(found: { readonly violations: readonly Violation[]; readonly warnings?: readonly string[] }): void {
    this.violations.push(...found.violations);
    this.warnings.push(...(found.warnings ?? []));
  }
}
