import { isUnseenByGrpc } from '@causeway/policies';
import type { Entry } from '@causeway/routing';
import type { PathFields, RouteMatchFields } from '../model/message-fields';

type Given = Entry['match']['given'];
type HeaderMatch = NonNullable<Given['headers']>[number];

/** A match, translated for a gRPC client. */
export type GrpcMatchResult =
  /** Alternatives, any of which matches; an empty list means that no call can match, so nothing is lost. */
  | { readonly ok: true; readonly matches: readonly RouteMatchFields[] }
  /** A client cannot evaluate the match. */
  | { readonly ok: false; readonly reason: string };

const EVERY_CALL: PathFields = { $case: 'prefix', value: '' };

/**
 * Translates the match of an entry to gRPC's xDS: path, and headers that the program itself sends (gRPC proposal A28). A call is a POST to
 * `/<service>/<method>` without a query, so a match on another method or on a query parameter matches no call. Linear in the match.
 */
export function grpcMatch({ route, match: { given } }: Pick<Entry, 'route' | 'match'>): GrpcMatchResult {
  const headers = given.headers ?? [];
  const unseen = headers.find(({ name }) => isUnseenByGrpc(name));
  const isForCalls =
    route.kind === 'GRPCRoute' || ((given.queryParams ?? []).length === 0 && (given.method ?? 'POST') === 'POST');
  if (!isForCalls) return { ok: true, matches: [] };
  if (unseen) return { ok: false, reason: `a gRPC client does not see the header ${unseen.name}: no call matches` };
  const paths = route.kind === 'GRPCRoute' ? [methodPath(given)] : toPaths(given);
  const matched = headers.map(headerFields);
  return { ok: true, matches: paths.map((pathSpecifier) => ({ pathSpecifier, headers: matched })) };
}

/** A path prefix matches whole elements: the path itself, or a path that continues with a slash. */
function toPaths({ path }: Given): readonly PathFields[] {
  const { type = 'PathPrefix', value = '/' } = path ?? {};
  if (type === 'Exact') return [{ $case: 'path', value }];
  if (type === 'RegularExpression') return [expression(whole(value))];
  const prefix = value.replace(/\/$/, '');
  if (prefix === '') return [EVERY_CALL];
  return [
    { $case: 'path', value: prefix },
    { $case: 'prefix', value: `${prefix}/` },
  ];
}

function methodPath({ method: given }: Given): PathFields {
  const { type = 'Exact', service = '', method = '' } = typeof given === 'object' ? given : {};
  if (service === '' && method === '') return EVERY_CALL;
  if (type === 'RegularExpression') {
    const part = (text: string): string => (text === '' ? '[^/]+' : whole(text));
    return expression(`/${part(service)}/${part(method)}`);
  }
  if (method === '') return { $case: 'prefix', value: `/${service}/` };
  if (service === '') return expression(`/[^/]+/${quoted(method)}`);
  return { $case: 'path', value: `/${service}/${method}` };
}

function headerFields({ name, type = 'Exact', value }: HeaderMatch): NonNullable<RouteMatchFields['headers']>[number] {
  return {
    name: name.toLowerCase(),
    headerMatchSpecifier: {
      $case: 'stringMatch',
      value: {
        matchPattern:
          type === 'Exact' ? { $case: 'exact', value } : { $case: 'safeRegex', value: { regex: whole(value) } },
      },
    },
  };
}

const expression = (regex: string): PathFields => ({ $case: 'safeRegex', value: { regex } });
/** Wraps an expression in a group: some clients add `^` and `$`, which bind more strongly than an alternative. */
const whole = (regex: string): string => `(?:${regex})`;
const quoted = (text: string): string => text.replace(/[^A-Za-z0-9_]/g, '\\$&');
