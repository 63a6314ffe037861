import type { FieldPath, JsonObject, Violation } from '@causeway/resources';
import type { GrpcMatch, HttpMatch, NamedMatch, TextMatch } from '../model';
import { checkFields } from './known-fields';

const inexact = 'routes of the Gateway API have no such match';
const HTTP = {
  known: ['prefix', 'path', 'method', 'headers', 'queryParameters', 'port'],
  refused: { scheme: inexact, hostname: 'requests reach a VirtualService by its own name' },
};
const GRPC = {
  known: ['serviceName', 'methodName', 'metadata', 'port'],
  refused: { prefix: inexact, hostname: 'requests reach a VirtualService by its own name' },
};
const PATH = { known: ['exact', 'regex'], refused: {} };
const NAMED = { known: ['name', 'match'], refused: { invert: inexact } };
const TEXT = { known: ['exact', 'prefix', 'suffix', 'regex'], refused: { range: inexact } };

/** Returns the match of an HTTPRoute; conditions that it cannot express are added to `found`. A prefix matches whole path elements (T003-19). */
export function httpMatch(match: HttpMatch, at: FieldPath, found: Violation[]): JsonObject {
  checkFields(match, HTTP, at, found);
  if (match.path) checkFields(match.path, PATH, at.field('path'), found);
  const { prefix, path, method, headers = [], queryParameters = [] } = match;
  if (prefix !== undefined && path)
    found.push(at.field('path').violation('must not stand beside prefix', 'not-allowed'));
  return {
    path: pathMatch(prefix, path),
    ...(method === undefined ? {} : { method }),
    ...(headers.length === 0 ? {} : { headers: valueMatches(headers, at.field('headers'), found) }),
    ...(queryParameters.length === 0
      ? {}
      : { queryParams: valueMatches(queryParameters, at.field('queryParameters'), found) }),
  };
}

/** Returns the match of a GRPCRoute; undefined if every call matches. */
export function grpcMatch(match: GrpcMatch, at: FieldPath, found: Violation[]): JsonObject | undefined {
  checkFields(match, GRPC, at, found);
  const { serviceName: service, methodName: method, metadata = [] } = match;
  if (method !== undefined && service === undefined)
    found.push(at.field('serviceName').violation('is required with methodName', 'required'));
  const called = service === undefined ? {} : { method: { service, ...(method === undefined ? {} : { method }) } };
  const headers = metadata.length === 0 ? {} : { headers: valueMatches(metadata, at.field('metadata'), found) };
  const all = { ...called, ...headers };
  return Object.keys(all).length === 0 ? undefined : all;
}

function pathMatch(prefix: string | undefined, path: HttpMatch['path']): JsonObject {
  if (path?.exact !== undefined) return { type: 'Exact', value: path.exact };
  if (path?.regex !== undefined) return { type: 'RegularExpression', value: path.regex };
  return { type: 'PathPrefix', value: prefix ?? '/' };
}

function valueMatches(matches: readonly NamedMatch[], at: FieldPath, found: Violation[]): readonly JsonObject[] {
  return matches.map((named, i) => {
    checkFields(named, NAMED, at.index(i), found);
    const { name, match = {} } = named;
    checkFields(match, TEXT, at.index(i).field('match'), found);
    if (Object.keys(match).length > 1)
      found.push(at.index(i).field('match').violation('must have one field', 'not-allowed'));
    return match.exact === undefined
      ? { type: 'RegularExpression', name, value: formatExpression(match) }
      : { type: 'Exact', name, value: match.exact };
  });
}

/** Returns an expression for whole values; without any condition it matches every present value. */
function formatExpression({ regex, prefix, suffix }: TextMatch): string {
  if (regex !== undefined) return regex;
  if (prefix !== undefined) return `${literal(prefix)}.*`;
  return suffix === undefined ? '.*' : `.*${literal(suffix)}`;
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
