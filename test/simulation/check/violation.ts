/** An invariant of docs/design.md §9 that did not hold. */
export interface Violation {
  /** `I1` … `I10`, or `conditions`. */
  readonly invariant: string;
  readonly detail: string;
}

/** Takes the findings of checks. */
export type Report = (invariant: string, detail: string) => void;
