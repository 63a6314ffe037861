import { goDurationMs, type FieldPath, type Violation } from '@causeway/resources';
import type { Filter, HeaderChanges, PathChange, RouteRule } from '../model';
import { unknownValue } from './compiled-match';

/** Types of filters of a rule or a backend. */
export const filterTypes = [
  'RequestHeaderModifier',
  'ResponseHeaderModifier',
  'RequestMirror',
  'RequestRedirect',
  'URLRewrite',
  'ExtensionRef',
] as const;
/** Filters that proxies support for whole rules only; for single backends support is optional (Gateway API, HTTPBackendRef). */
const OF_RULES: readonly string[] = ['RequestMirror', 'RequestRedirect'];
export const pathChangeTypes = ['ReplaceFullPath', 'ReplacePrefixMatch'] as const;
export const redirectSchemes = ['http', 'https'] as const;
export const redirectStatusCodes = [301, 302, 303, 307, 308] as const;

/** A duration in the format of GEP-2257. */
const GEP_2257 = /^([0-9]{1,5}(h|m|s|ms)){1,4}$/;

/**
 * Returns violations of a rule's filters and timeouts (ADR 27). `not-allowed` is for filters that exclude each other,
 * other codes are for unknown values. Linear in the rule.
 */
export function filterViolations(rule: RouteRule, at: FieldPath): Violation[] {
  const filters = rule.filters ?? [];
  const place = at.field('filters');
  const redirects = filters.some(({ type }) => type === 'RequestRedirect');
  return [
    ...listViolations(rule, filters, place),
    ...(redirects && (rule.backendRefs?.length ?? 0) > 0
      ? [at.field('backendRefs').violation('must be empty beside a filter RequestRedirect', 'not-allowed')]
      : []),
    ...(rule.backendRefs ?? []).flatMap((backend, i) => {
      const field = at.field('backendRefs').index(i).field('filters');
      return [
        ...listViolations(rule, backend.filters ?? [], field),
        ...(backend.filters ?? []).flatMap(({ type }, j) =>
          OF_RULES.includes(type)
            ? [field.index(j).field('type').violation(`${type} must be a filter of the rule, not of one backend`)]
            : [],
        ),
      ];
    }),
    ...timeoutViolations(rule.timeouts, at.field('timeouts')),
  ];
}

function listViolations(rule: RouteRule, filters: readonly Filter[], at: FieldPath): Violation[] {
  const redirects = filters.some(({ type }) => type === 'RequestRedirect');
  const seen = new Set<string>();
  return filters.flatMap((filter, i) => {
    const field = at.index(i);
    const again = seen.has(filter.type) && !['RequestMirror', 'ExtensionRef'].includes(filter.type);
    seen.add(filter.type);
    return [
      ...(again ? [field.violation(`must be the only filter ${filter.type} of its list`, 'not-allowed')] : []),
      ...(redirects && filter.type === 'URLRewrite'
        ? [field.violation('URLRewrite must not stand beside RequestRedirect', 'not-allowed')]
        : []),
      ...checkFilter(rule, filter, field),
    ];
  });
}

/** Field with the settings of a filter type. */
const fieldOfType: Readonly<Record<string, Exclude<keyof Filter, 'type'>>> = {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestMirror: 'requestMirror',
  RequestRedirect: 'requestRedirect',
  URLRewrite: 'urlRewrite',
  ExtensionRef: 'extensionRef',
};

function checkFilter(rule: RouteRule, filter: Filter, at: FieldPath): Violation[] {
  const name = fieldOfType[filter.type];
  if (name === undefined) return [unknownValue(at.field('type'), filter.type, filterTypes)];
  const others = Object.values(fieldOfType).filter((field) => field !== name && filter[field] !== undefined);
  const { requestRedirect: redirect, urlRewrite, requestMirror: mirror } = filter;
  const place = at.field(name);
  return [
    ...(filter[name] === undefined ? [place.violation(`is required with type ${filter.type}`, 'required')] : []),
    ...others.map((other) => at.field(other).violation(`must be absent with type ${filter.type}`)),
    ...headerViolations(filter.requestHeaderModifier, at.field('requestHeaderModifier')),
    ...headerViolations(filter.responseHeaderModifier, at.field('responseHeaderModifier')),
    ...(redirect ? redirectViolations(rule, redirect, place) : []),
    ...pathChangeViolations(rule, urlRewrite?.path, place.field('path')),
    ...(mirror?.percent !== undefined && mirror.fraction
      ? [place.field('fraction').violation('must be absent beside percent')]
      : []),
    ...(mirror?.fraction && mirror.fraction.numerator > (mirror.fraction.denominator ?? 100)
      ? [place.field('fraction').violation('must not be more than one', 'out-of-range')]
      : []),
  ];
}

/** Refuses two actions on one header name: their order is undefined. */
function headerViolations(changes: HeaderChanges | undefined, at: FieldPath): Violation[] {
  if (!changes) return [];
  const seen = new Map<string, string>();
  const actions = [
    ...(changes.set ?? []).map(({ name }, i) => [name, `set[${i}]`, at.field('set').index(i)] as const),
    ...(changes.add ?? []).map(({ name }, i) => [name, `add[${i}]`, at.field('add').index(i)] as const),
    ...(changes.remove ?? []).map((name, i) => [name, `remove[${i}]`, at.field('remove').index(i)] as const),
  ];
  return actions.flatMap(([name, action, field]) => {
    const key = name.toLowerCase();
    const before = seen.get(key);
    if (before === undefined) {
      seen.set(key, action);
      return [];
    }
    return [field.violation(`must be unique; header "${name}" is already changed by ${before}`, 'not-unique')];
  });
}

function redirectViolations(
  rule: RouteRule,
  { scheme, statusCode, path }: NonNullable<Filter['requestRedirect']>,
  at: FieldPath,
): Violation[] {
  return [
    ...(scheme === undefined || redirectSchemes.some((known) => known === scheme)
      ? []
      : [unknownValue(at.field('scheme'), scheme, redirectSchemes)]),
    ...(statusCode === undefined || redirectStatusCodes.some((known) => known === statusCode)
      ? []
      : [unknownValue(at.field('statusCode'), String(statusCode), redirectStatusCodes.map(String))]),
    ...pathChangeViolations(rule, path, at.field('path')),
  ];
}

function pathChangeViolations(rule: RouteRule, path: PathChange | undefined, at: FieldPath): Violation[] {
  if (!path) return [];
  const { type, replaceFullPath, replacePrefixMatch } = path;
  if (!pathChangeTypes.some((known) => known === type)) return [unknownValue(at.field('type'), type, pathChangeTypes)];
  const [wanted, other] =
    type === 'ReplaceFullPath'
      ? (['replaceFullPath', 'replacePrefixMatch'] as const)
      : (['replacePrefixMatch', 'replaceFullPath'] as const);
  const values = { replaceFullPath, replacePrefixMatch };
  const prefixes = (rule.matches ?? [{}]).map(({ path: match }) => match?.type ?? 'PathPrefix');
  const onePrefix = prefixes.length <= 1 && prefixes.every((kind) => kind === 'PathPrefix');
  return [
    ...(values[wanted] === undefined ? [at.field(wanted).violation(`is required with type ${type}`, 'required')] : []),
    ...(values[other] === undefined ? [] : [at.field(other).violation(`must be absent with type ${type}`)]),
    ...(type === 'ReplacePrefixMatch' && !onePrefix
      ? [at.field('type').violation('ReplacePrefixMatch needs exactly one match, of type PathPrefix', 'not-allowed')]
      : []),
  ];
}

function timeoutViolations(timeouts: RouteRule['timeouts'], at: FieldPath): Violation[] {
  const { request, backendRequest } = timeouts ?? {};
  const wrong = (['request', 'backendRequest'] as const).flatMap((name) => {
    const value = timeouts?.[name];
    return value === undefined || GEP_2257.test(value)
      ? []
      : [at.field(name).violation(`must be a duration such as 500ms, 10s, 1h30m; got "${value}"`, 'wrong-form')];
  });
  if (wrong.length > 0 || request === undefined || backendRequest === undefined) return wrong;
  const most = goDurationMs(request) ?? 0;
  const reason = `must not be longer than request; got ${backendRequest} and ${request}`;
  return most > 0 && (goDurationMs(backendRequest) ?? 0) > most
    ? [at.field('backendRequest').violation(reason, 'out-of-range')]
    : [];
}
