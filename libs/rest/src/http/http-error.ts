import { shortened, type Violation } from '@causeway/resources';

/** The statuses that REST itself decides; the others come from DomainErrors (docs/design.md §6). */
export type HttpErrorStatus = 400 | 403 | 404 | 405 | 406 | 410 | 412 | 413 | 414 | 415 | 503;

/** Parts of an HttpError besides status and detail. */
export interface HttpErrorOptions {
  readonly violations?: readonly Violation[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A request that HTTP itself refuses: a bad query, a wrong method, a precondition. ProblemFilter makes one problem document of it. */
export class HttpError extends Error {
  readonly violations: readonly Violation[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly status: HttpErrorStatus,
    detail: string,
    parts: HttpErrorOptions = {},
  ) {
    super(detail, { cause: parts.cause });
    this.name = 'HttpError';
    this.violations = parts.violations ?? [];
    this.headers = parts.headers ?? {};
  }
}

/** Characters of a client's own text that an error repeats. */
const MAX_ECHOED = 200;

/** A text as an error may repeat it: its first characters, 200 by default. */
export function truncated(text: string, longest = MAX_ECHOED): string {
  return shortened(text, longest + 1, '…');
}

/** Describes why a body cannot be parsed. */
export function unparsableDetail({ violations }: { readonly violations: readonly Violation[] }): string {
  return `The body cannot be read: ${violations.map(({ reason }) => reason).join('; ')}.`;
}
