import { DomainError, Invalid, Violations, type Identity } from '@causeway/resources';
import type { WriteOutcome } from '../requests';
import type { AppliedResult, BatchRequest, BatchResult } from './batch';

/**
 * Maximum number of violations that the results of a batch list; beyond it, each refused document lists its first one.
 */
const MAX_VIOLATIONS_LISTED = 5_000;

/** Collects the results of a batch. */
export class BatchResults {
  private readonly results = new Map<number, BatchResult>();
  private listed = 0;
  private refused = 0;

  constructor(private readonly documents: BatchRequest['documents']) {}

  get hasRefused(): boolean {
    return this.refused > 0;
  }

  has(index: number): boolean {
    return this.results.has(index);
  }

  applied(index: number, outcome: WriteOutcome, more: Pick<AppliedResult, 'diff'> = {}): void {
    const { id, revision, etag, warnings } = outcome;
    const result = { ...this.place(index), outcome: outcome.outcome, id, revision, warnings, ...more };
    this.results.set(index, etag === undefined ? result : { ...result, etag });
  }

  skipped(index: number, id: Identity): void {
    this.results.set(index, { ...this.place(index), outcome: 'skipped', id });
  }

  refuse(index: number, id: Identity | undefined, error: DomainError, sameAs?: number): void {
    this.refused += 1;
    this.results.set(index, {
      ...this.place(index),
      outcome: 'refused',
      error: this.withinBudget(error),
      ...(id ? { id } : {}),
      ...(sameAs === undefined ? {} : { sameAs }),
    });
  }

  /** Runs `work`; if it throws a DomainError, the document is refused. */
  runOrRefuse(index: number, idOf: () => Identity | undefined, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.refuse(index, idOf(), error);
    }
  }

  /** Returns the position of a document, for people. */
  formatPosition(index: number): string {
    const position = this.documents[index]?.position;
    return position ? `line ${position.line}` : `document ${index + 1}`;
  }

  /** All results, in the order of the documents. */
  list(): readonly BatchResult[] {
    return this.documents.map((_, index) => {
      const result = this.results.get(index);
      if (!result) throw new Error(`document ${index} of a batch has no result`);
      return result;
    });
  }

  private place(index: number): Pick<BatchResult, 'index' | 'position'> {
    const position = this.documents[index]?.position;
    return position ? { index, position } : { index };
  }

  /** Ten thousand documents with a hundred violations each would be a gigabyte of text. */
  private withinBudget(error: DomainError): DomainError {
    if (!(error instanceof Invalid) || error.total === 1) return error;
    this.listed += error.violations.length;
    if (this.listed <= MAX_VIOLATIONS_LISTED) return error;
    const first = new Violations(1);
    first.addAll(error.violations);
    return new Invalid(first);
  }
}
