import type { RestRequest } from './rest-request';
import { FieldPath, nearest, type Schema, type Violation, type ViolationRule } from '@causeway/resources';
import { IsOptional } from 'typebox';
import { HttpError, truncated } from './http-error';

/** Maximum length of a name that is compared with known names: longer ones are no typing errors. */
const MAX_GUESSED = 64;

/** A query string as Fastify parses it. */
export interface RawQuery {
  readonly [name: string]: string | readonly string[] | undefined;
}

/** Schemas of a handler's parameters by name (`operation.query`). An object schema describes many parameters: `filter[labels.team]`. */
export type QueryParameters = Readonly<Record<string, ParameterSchema>>;

/** Keywords of the schema of a parameter. */
interface ParameterSchema extends Schema {
  readonly description?: string;
  /** Text of a violation in place of the value. */
  readonly hint?: string;
}

/** Inclusive range of a whole number. */
export interface IntegerRange {
  readonly minimum: number;
  readonly maximum: number;
}

/**
 * Reads the query of one request by the parameters of its handler. Collects violations; `check` throws them all at once
 * as 400 (docs/design.md §6 "bad query").
 */
export class QueryReader {
  private readonly violations: Violation[] = [];

  constructor(
    private readonly raw: RawQuery,
    private readonly known: QueryParameters,
  ) {
    for (const name of Object.keys(raw)) if (!this.isKnown(name)) this.refuseUnknown(name);
  }

  /** Adds a violation of the parameter `name`, unless it already has one: a parameter may be read twice. */
  refuse(name: string, reason: string, rule: ViolationRule = 'invalid'): void {
    const violation = FieldPath.at(truncated(name)).violation(reason, rule);
    if (!this.violations.some(({ field }) => field === violation.field)) this.violations.push(violation);
  }

  /** Returns the text of a parameter, undefined if absent; refuses a repeated one. */
  text(name: string): string | undefined {
    const value = Object.hasOwn(this.raw, name) ? this.raw[name] : undefined;
    if (value === undefined) return undefined;
    const most = this.known[name]?.maxLength ?? Infinity;
    if (typeof value !== 'string') this.refuse(name, 'is given more than once');
    else if (value.length > most) this.refuse(name, `may have ${most} characters; got ${value.length}`, 'too-long');
    else return value;
    return undefined;
  }

  /** Returns a whole number within `range`; refuses any other text. */
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

  /** Returns the values of all parameters by the types of their schemas, except those that stand for many. */
  values(): Readonly<Record<string, unknown>> {
    const values: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(this.known)) {
      if (schema.type === 'object') continue;
      const value = this.value(name, schema);
      if (value !== undefined) values[name] = value;
    }
    return values;
  }

  private value(name: string, schema: ParameterSchema): string | number | boolean | undefined {
    const given = Object.hasOwn(this.raw, name) && this.raw[name] !== '';
    if (!given && !IsOptional(schema)) {
      this.refuse(
        name,
        schema.hint === undefined ? `must be given: ${lowerFirst(schema.description)}` : formatChoices(schema),
        'required',
      );
      return undefined;
    }
    const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
    if (schema.type === 'integer') return this.integer(name, { minimum, maximum });
    if (schema.type === 'boolean') return Object.hasOwn(this.raw, name) ? this.flag(name) : undefined;
    return schema.enum === undefined ? this.nonEmpty(name, schema) : this.word(name, schema);
  }

  /** Returns a text; an empty one counts as absent if it must not be empty. */
  private nonEmpty(name: string, { minLength = 0 }: ParameterSchema): string | undefined {
    const text = this.text(name);
    return text === '' && minLength > 0 ? undefined : text;
  }

  private word(name: string, schema: ParameterSchema): string | undefined {
    const text = this.text(name);
    if (text === undefined || schema.enum?.includes(text) === true) return text;
    const got = schema.hint === undefined ? `; got "${truncated(text)}"` : '';
    this.refuse(name, formatChoices(schema) + got, 'not-one-of');
    return undefined;
  }

  /** Returns the names of all parameters that begin with `start`. */
  namesFrom(start: string): readonly string[] {
    return Object.keys(this.raw).filter((name) => name.startsWith(start));
  }

  /** Throws 400 with all violations so far. */
  check(): void {
    if (this.violations.length === 0) return;
    throw badQuery(this.violations);
  }

  private isKnown(name: string): boolean {
    if (Object.hasOwn(this.known, name)) return true;
    return Object.entries(this.known).some(([family, { type }]) => type === 'object' && name.startsWith(family));
  }

  private refuseUnknown(name: string): void {
    const guess = name.length > MAX_GUESSED ? undefined : nearest(name, Object.keys(this.known));
    const hint = guess === undefined ? '' : `; did you mean "${guess}"?`;
    this.refuse(name, `is not a known query parameter${hint}`, 'unknown-field');
  }
}

/** Returns the error of a query with violations. */
export function badQuery(violations: Iterable<Violation>): HttpError {
  return new HttpError(400, 'The query of this request is invalid.', { violations: [...violations] });
}

/** Returns a reader for the query of a request, with the parameters of its handler. */
export function readQuery({ query }: Pick<RestRequest, 'query'>, known: QueryParameters): QueryReader {
  const raw: RawQuery = {};
  return new QueryReader(Object.assign(raw, query), known);
}

/** Returns `must be one of a, b`, or why only one value is possible. */
function formatChoices({ enum: words = [], hint }: ParameterSchema): string {
  const choice = words.length === 1 ? `must be ${String(words[0])}` : `must be one of ${words.join(', ')}`;
  return hint === undefined ? choice : `${choice}; ${hint}`;
}

/** Returns the description of a parameter as the end of a sentence: `the name of the service`. */
function lowerFirst(text = ''): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '');
}
