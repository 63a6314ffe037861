import type { Violation } from '@causeway/resources';

/** The statuses that REST itself decides; the others come from DomainErrors (design.md §6). */
export type FailureStatus = 400 | 403 | 404 | 405 | 406 | 410 | 412 | 413 | 414 | 415 | 503;

/** What a failure says besides status and detail. */
export interface FailureParts {
  readonly violations?: readonly Violation[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A request that HTTP itself refuses: a bad query, a wrong method, a precondition. Becomes one problem document. */
export class HttpFailure extends Error {
  readonly violations: readonly Violation[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly status: FailureStatus,
    detail: string,
    parts: FailureParts = {},
  ) {
    super(detail, { cause: parts.cause });
    this.name = 'HttpFailure';
    this.violations = parts.violations ?? [];
    this.headers = parts.headers ?? {};
  }
}
