import type { FieldPath, Violation } from '@causeway/resources';
import type { RequestFields } from './request';
import type { RouteMatch, ValueMatch } from '../model';
import { compileExpression, type RegularExpression } from './regular-expression';

/** Methods that an HTTPRoute can match. */
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'] as const;
/** Types of value comparison. */
export const valueMatchTypes = ['Exact', 'RegularExpression'] as const;
export const pathMatchTypes = ['Exact', 'PathPrefix', 'RegularExpression'] as const;

/** One compiled condition: a field of the request and the test of its value. */
interface MatchCondition {
  readonly describe: string;
  readonly holds: (fields: RequestFields) => boolean;
}

/** One compiled match of a rule. */
export interface CompiledMatch {
  /** Returns the first condition that fails; undefined if all hold. Linear in its conditions. */
  readonly refusal: (fields: RequestFields) => string | undefined;
  /** Precedence before age: compared number by number, the larger first (docs/reference/routing.md). */
  readonly rank: readonly number[];
  /** Description such as `Exact /v1, method GET`. */
  readonly text: string;
  /** The match as data, for translation; of headers and query parameters only the effective entries. */
  readonly given: RouteMatch;
}

/** Compiles the comparison of one value; an invalid one is added to `found` and matches nothing. */
function compileComparison(
  { type = 'Exact', value }: { readonly type?: string; readonly value: string },
  at: FieldPath,
  found: Violation[],
  field = 'value',
): (actual: string, fields: RequestFields) => boolean {
  if (type === 'Exact') return (actual) => actual === value;
  if (type !== 'RegularExpression') {
    found.push(unknownValue(at.field('type'), type, valueMatchTypes));
    return () => false;
  }
  const expression = regular(value, at.field(field), found);
  return (actual, fields) => expression !== undefined && fields.matches(expression, actual);
}

function regular(value: string, at: FieldPath, found: Violation[]): RegularExpression | undefined {
  const compiled = compileExpression(value);
  if (compiled.ok) return compiled.value;
  found.push(at.violation(`${compiled.reason}; got "${value}"`, 'wrong-form'));
  return undefined;
}

/** Returns the violation of an unknown enum value. */
export function unknownValue(at: FieldPath, value: string, known: readonly string[]): Violation {
  return at.violation(`must be one of ${known.join(', ')}; got "${value}"`, 'not-one-of');
}

/** Keeps the first entry of each name, the only effective one (Gateway API, HTTPHeaderMatch). */
function firstOfEachName(
  matches: readonly ValueMatch[] = [],
  toName: (name: string) => string,
): [ValueMatch, number][] {
  const seen = new Set<string>();
  return matches.flatMap((match, i): [ValueMatch, number][] => {
    const name = toName(match.name);
    if (seen.has(name)) return [];
    seen.add(name);
    return [[match, i]];
  });
}

function headerConditions(match: RouteMatch, at: FieldPath, found: Violation[]): MatchCondition[] {
  return firstOfEachName(match.headers, (name) => name.toLowerCase()).map(([header, i]) => {
    const holds = compileComparison(header, at.field('headers').index(i), found);
    const name = header.name.toLowerCase();
    return condition(`header ${header.name}`, header, (fields) => {
      const actual = fields.header(name);
      return actual !== undefined && holds(actual, fields);
    });
  });
}

function queryConditions(match: RouteMatch, at: FieldPath, found: Violation[]): MatchCondition[] {
  return firstOfEachName(match.queryParams, (name) => name).map(([parameter, i]) => {
    const holds = compileComparison(parameter, at.field('queryParams').index(i), found);
    return condition(`query parameter ${parameter.name}`, parameter, (fields) => {
      const actual = fields.parameter(parameter.name);
      return actual !== undefined && holds(actual, fields);
    });
  });
}

function condition(
  field: string,
  { type = 'Exact', value }: { readonly type?: string; readonly value: string },
  holds: (fields: RequestFields) => boolean,
): MatchCondition {
  return { describe: type === 'Exact' ? `${field} ${value}` : `${field} matching ${value}`, holds };
}

interface CompiledPath extends MatchCondition {
  readonly rank: readonly [kind: number, length: number];
}

function pathCondition(match: RouteMatch, at: FieldPath, found: Violation[]): CompiledPath {
  const { type = 'PathPrefix', value = '/' } = match.path ?? {};
  const describe = `${type} ${value}`;
  if (type === 'Exact') return { describe, rank: [2, 0], holds: ({ request }) => request.path === value };
  if (type === 'RegularExpression') {
    const expression = regular(value, at.field('path').field('value'), found);
    const holds = (fields: RequestFields): boolean =>
      expression !== undefined && fields.matches(expression, fields.request.path);
    return { describe, rank: [1, 0], holds };
  }
  if (type !== 'PathPrefix') found.push(unknownValue(at.field('path').field('type'), type, pathMatchTypes));
  const prefix = value.replace(/\/$/, '');
  return {
    describe,
    rank: [0, prefix.length],
    holds: ({ request: { path } }) => path === prefix || prefix === '' || path.startsWith(`${prefix}/`),
  };
}

/** Compiles a match of an HTTPRoute; conditions that cannot be applied are added to `found`. */
export function compileHttpMatch(match: RouteMatch, at: FieldPath, found: Violation[]): CompiledMatch {
  const path = pathCondition(match, at, found);
  const method = typeof match.method === 'string' ? match.method : undefined;
  if (method !== undefined && !methods.some((known) => known === method)) {
    found.push(unknownValue(at.field('method'), method, methods));
  }
  const byMethod = { describe: `method ${method ?? ''}`, holds: (f: RequestFields) => f.request.method === method };
  const headers = headerConditions(match, at, found);
  const query = queryConditions(match, at, found);
  const conditions = [path, ...(method === undefined ? [] : [byMethod]), ...headers, ...query];
  const rank = [...path.rank, method === undefined ? 0 : 1, headers.length, query.length];
  return buildMatch(match, conditions, rank);
}

/** Compiles a match of a GRPCRoute; conditions that cannot be applied are added to `found`. */
export function compileGrpcMatch(match: RouteMatch, at: FieldPath, found: Violation[]): CompiledMatch {
  const { type, service, method } = typeof match.method === 'object' ? match.method : {};
  const place = at.field('method');
  const part = (name: 'service' | 'method', value: string | undefined): MatchCondition[] => {
    if (value === undefined || value === '') return [];
    const holds = compileComparison({ ...(type === undefined ? {} : { type }), value }, place, found, name);
    return [condition(name, { ...(type === undefined ? {} : { type }), value }, (f) => holds(f.grpc[name], f))];
  };
  const headers = headerConditions(match, at, found);
  const conditions = [...part('service', service), ...part('method', method), ...headers];
  return buildMatch(match, conditions, [service?.length ?? 0, method?.length ?? 0, headers.length]);
}

function buildMatch(match: RouteMatch, conditions: readonly MatchCondition[], rank: readonly number[]): CompiledMatch {
  const headers = firstOfEachName(match.headers, (name) => name.toLowerCase()).map(([header]) => header);
  const queryParams = firstOfEachName(match.queryParams, (name) => name).map(([parameter]) => parameter);
  return {
    rank,
    given: { ...match, headers, queryParams },
    text: conditions.map(({ describe }) => describe).join(', ') || 'every request',
    refusal: (fields) => conditions.find(({ holds }) => !holds(fields))?.describe,
  };
}

/** Returns a number below 0 if `a` has precedence before age: the first number that differs decides, the larger wins. */
export function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i += 1) {
    const difference = (b[i] ?? 0) - (a[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
