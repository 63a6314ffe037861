import type { RestRequest } from './rest-request';
import { FieldPath, nearest, type Violation, type ViolationRule } from '@causeway/resources';
import { HttpError, truncated } from './http-error';

/** Longer names are no misspelt ones. */
const MAX_GUESSED = 64;

/** A query string as Fastify parses it. */
export interface RawQuery {
  readonly [name: string]: string | readonly string[] | undefined;
}

/** One parameter that a handler takes; the OpenAPI document is made from the same declarations. */
export interface RestQueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  /** Stands for many parameters that begin with its name: `filter[labels.team]`. */
  readonly family?: boolean;
  /** Given where the handler refuses a request without it. */
  readonly required?: { readonly example: string };
}

/** Bounds of a whole number; both ends are legal. */
export interface IntegerRange {
  readonly minimum: number;
  readonly maximum: number;
}

/**
 * The query of one request against the parameters that its handler knows. Reading collects violations; `check` throws
 * them all at once as 400 (docs/design.md §6 "bad query").
 */
export class QueryReader {
  private readonly violations: Violation[] = [];

  constructor(
    private readonly raw: RawQuery,
    private readonly known: readonly RestQueryParameter[],
  ) {
    for (const name of Object.keys(raw)) if (!this.isKnown(name)) this.refuseUnknown(name);
  }

  /** Adds a violation of the parameter `name`. */
  refuse(name: string, reason: string, rule: ViolationRule = 'invalid'): void {
    this.violations.push(FieldPath.at(truncated(name)).violation(reason, rule));
  }

  /** The text of a parameter, undefined when absent; given twice it is refused. */
  text(name: string): string | undefined {
    const value = Object.hasOwn(this.raw, name) ? this.raw[name] : undefined;
    if (value === undefined) return undefined;
    const most = Number(this.known.find((one) => one.name === name)?.schema['maxLength'] ?? Infinity);
    if (typeof value !== 'string') this.refuse(name, 'is given more than once');
    else if (value.length > most) this.refuse(name, `may have ${most} characters; got ${value.length}`, 'too-long');
    else return value;
    return undefined;
  }

  /** A whole number within `range`; what is none is refused. */
  integer(name: string, range: IntegerRange): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^-?\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (value >= range.minimum && value <= range.maximum) return value;
    const upTo =
      range.maximum === Number.MAX_SAFE_INTEGER
        ? ` of at least ${range.minimum}`
        : ` from ${range.minimum} to ${range.maximum}`;
    this.refuse(name, `must be a whole number${upTo}; got "${truncated(text)}"`);
    return undefined;
  }

  /** `true` or `false`; absent is false. */
  flag(name: string): boolean {
    const text = this.text(name);
    if (text !== undefined && text !== 'true' && text !== 'false')
      this.refuse(name, `must be true or false; got "${truncated(text)}"`);
    return text === 'true';
  }

  /** Names of all parameters that begin with `start`. */
  namesFrom(start: string): readonly string[] {
    return Object.keys(this.raw).filter((name) => name.startsWith(start));
  }

  /** Throws 400 with everything refused so far. */
  check(): void {
    if (this.violations.length === 0) return;
    throw new HttpError(400, 'The query of this request is not understood.', { violations: this.violations });
  }

  private isKnown(name: string): boolean {
    return this.known.some((one) => name === one.name || (one.family === true && name.startsWith(one.name)));
  }

  private refuseUnknown(name: string): void {
    const guess =
      name.length > MAX_GUESSED
        ? undefined
        : nearest(
            name,
            this.known.map((one) => one.name),
          );
    const hint = guess === undefined ? '' : `; did you mean "${guess}"?`;
    this.refuse(name, `is not a known query parameter${hint}`, 'unknown-field');
  }
}

/** The query of a request against the parameters that its handler knows. */
export function readQuery({ query }: Pick<RestRequest, 'query'>, known: readonly RestQueryParameter[]): QueryReader {
  const raw: RawQuery = {};
  return new QueryReader(Object.assign(raw, query), known);
}
