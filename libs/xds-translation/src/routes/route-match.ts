import type { HeaderMatcher, QueryParameterMatcher } from '@causeway/proto-gen';
import type { Entry, RouteMatch, ValueMatch } from '@causeway/routing';
import type { PathFields, RouteMatchFields } from '../model/message-fields';

type HeaderFields = Parameters<typeof HeaderMatcher.fromPartial>[0];
type QueryFields = Parameters<typeof QueryParameterMatcher.fromPartial>[0];

/** The form that Envoy requires of `path_separated_prefix`. */
const SEPARATED = /^[^?#]+[^?#/]$/;
const NEVER_IN_PATH = /[?#]/;

/**
 * Translates the match of an entry; empty if no request can match. `replacesPrefix`: the prefix itself and paths under it become two matches, because
 * Envoy replaces exactly the characters that it matched.
 */
export function entryMatches({ route, match }: Entry, replacesPrefix = false): readonly RouteMatchFields[] {
  const { given } = match;
  const paths = route.kind === 'GRPCRoute' ? grpcPaths(given) : httpPaths(given, replacesPrefix);
  const headers = [
    ...(route.kind === 'GRPCRoute' ? grpcHeaders(given) : methodHeader(given)),
    ...toHeaderMatches(given),
  ];
  const queryParameters = toQueryMatches(given);
  return paths.map((pathSpecifier) => ({ pathSpecifier, headers, queryParameters }));
}

const exactPath = (value: string): PathFields => ({ $case: 'path', value });
const prefixPath = (value: string): PathFields => ({ $case: 'prefix', value });
const regexPath = (regex: string): PathFields => ({ $case: 'safeRegex', value: { regex } });

function httpPaths({ path }: RouteMatch, replacesPrefix: boolean): readonly PathFields[] {
  const { type = 'PathPrefix', value = '/' } = path ?? {};
  if (type === 'RegularExpression') return value === '' ? [] : [regexPath(value)];
  if (NEVER_IN_PATH.test(value) || !value.startsWith('/')) return [];
  if (type === 'Exact') return [exactPath(value)];
  const prefix = value.replace(/\/$/, '');
  if (prefix === '') return [prefixPath('/')];
  if (!replacesPrefix && SEPARATED.test(prefix)) return [{ $case: 'pathSeparatedPrefix', value: prefix }];
  return [exactPath(prefix), prefixPath(`${prefix}/`)];
}

const GRPC_PATH = '/[^/]+/[^/]+';

/**
 * Service and method are the two elements of the path; regular expressions are anchored to their element, because they could match across the slash.
 */
function grpcPaths({ method }: RouteMatch): readonly PathFields[] {
  const { type = 'Exact', service = '', method: called = '' } = typeof method === 'object' ? method : {};
  if (service === '' && called === '') return [prefixPath('/')];
  if (type === 'RegularExpression') return [regexPath(GRPC_PATH)];
  if (service !== '' && called !== '') return [exactPath(`/${service}/${called}`)];
  return [regexPath(service === '' ? `/[^/]+/${literal(called)}` : `/${literal(service)}/[^/]+`)];
}

/** A gRPC call is a POST with gRPC's content type; expressions of `grpcPaths` make sure that its path has two elements. */
function grpcHeaders({ method }: RouteMatch): HeaderFields[] {
  const { type, service = '', method: called = '' } = typeof method === 'object' ? method : {};
  const parts =
    type !== 'RegularExpression'
      ? []
      : [
          ...(service === '' ? [] : [header(':path', matching(`/(?:${service})/[^/]+`))]),
          ...(called === '' ? [] : [header(':path', matching(`/[^/]+/(?:${called})`))]),
        ];
  const prefix = { $case: 'prefix' as const, value: 'application/grpc' };
  return [header(':method', equal('POST')), header('content-type', { matchPattern: prefix }), ...parts];
}

function methodHeader({ method }: RouteMatch): HeaderFields[] {
  return typeof method === 'string' ? [header(':method', equal(method))] : [];
}

function toHeaderMatches({ headers = [] }: RouteMatch): HeaderFields[] {
  return headers.map((each) => {
    const name = each.name.toLowerCase();
    return header(name === 'host' ? ':authority' : name, toStringMatch(each));
  });
}

/** Envoy compares the encoded text of the request; characters that must be encoded are matched in each of their encodings. */
function toQueryMatches({ queryParams = [] }: RouteMatch): QueryFields[] {
  return queryParams.map((each) => {
    const isPlain = each.type === 'RegularExpression' || /^[\w.~-]*$/.test(each.value);
    const value = isPlain ? toStringMatch(each) : matching(escapeEncodings(each.value));
    return { name: each.name, queryParameterMatchSpecifier: { $case: 'stringMatch', value } };
  });
}

type StringFields = NonNullable<Extract<HeaderFields['headerMatchSpecifier'], { $case: 'stringMatch' }>['value']>;

const header = (name: string, value: StringFields): HeaderFields => ({
  name,
  headerMatchSpecifier: { $case: 'stringMatch', value },
});
const equal = (value: string): StringFields => ({ matchPattern: { $case: 'exact', value } });
const matching = (regex: string): StringFields => ({ matchPattern: { $case: 'safeRegex', value: { regex } } });

/** An empty regular expression matches the empty value only; Envoy refuses it. */
function toStringMatch({ type, value }: ValueMatch): StringFields {
  return type === 'RegularExpression' && value !== '' ? matching(value) : equal(value);
}

/** Returns a regular expression that matches exactly this text. */
function literal(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

function escapeEncodings(value: string): string {
  return [...value]
    .map((character) => {
      if (/[\w.~-]/.test(character)) return literal(character);
      const bytes = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
      const plus = character === ' ' ? '|\\+' : '';
      return `(?:${literal(character)}|(?i:${bytes})${plus})`;
    })
    .join('');
}
