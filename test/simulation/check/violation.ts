/** An invariant of docs/design.md §9 that did not hold. */
export interface Violation {
  /** `I1` … `I10`, or `conditions`. */
  readonly invariant: string;
  readonly detail: string;
}

/** Where checks say what they found. */
export type Report = (invariant: string, detail: string) => void;
