import { shortened, type Violation } from '@causeway/resources';

/** Statuses that REST itself decides; the others come from DomainErrors (docs/design.md §6). */
export type HttpErrorStatus = 400 | 403 | 404 | 405 | 406 | 410 | 412 | 413 | 414 | 415 | 503;

/** Parts of an HttpError besides status and detail. */
export interface HttpErrorOptions {
  readonly violations?: readonly Violation[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A request refused at the level of HTTP: a bad query, a wrong method, a precondition. ProblemFilter converts it to a problem document. */
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

/** Maximum number of characters of a client's text that an error repeats. */
const MAX_ECHOED = 200;

/** Shortens a text that an error repeats, to 200 characters by default. */
export function truncated(text: string, longest = MAX_ECHOED): string {
  return shortened(text, longest + 1, '…');
}

/** Describes why a body cannot be parsed. */
export function unparsableDetail({ violations }: { readonly violations: readonly Violation[] }): string {
  return `The body cannot be read: ${violations.map(({ reason }) => reason).join('; ')}.`;
}
