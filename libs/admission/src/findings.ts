import { Invalid, type FieldPath, type Violation } from '@causeway/resources';

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

const MOST = 100;

/** Throws Invalid when there are violations; of very many it lists the first hundred and says how many more there are. */
export function refuseAll(violations: readonly Violation[]): void {
  if (violations.length === 0) return;
  const more = violations.length - MOST;
  const rest = more > 0 ? [{ field: '', reason: `and ${more} more` }] : [];
  throw new Invalid([...violations.slice(0, MOST), ...rest]);
}
