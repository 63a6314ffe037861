import { compareText, FieldPath, identityKey, type Violation, type ResourceKey } from '@causeway/resources';
import { routeKinds, type Route, type RouteKind, type RouteRule, type RouteSpec } from '../model';
import { compileGrpcMatch, compileHttpMatch, type CompiledMatch } from './compiled-match';
import { filterViolations } from './filter-rules';
import { MAX_EXPRESSION_CHARACTERS } from './regular-expression';

/** One rule that is applied. */
export interface CompiledRule {
  /** Index in the route's list. */
  readonly index: number;
  /** Its name, or `rule-<n>` counted from 1. */
  readonly name: string;
  readonly rule: RouteRule;
  /** At least one for HTTPRoute and GRPCRoute, none for the others. */
  readonly matches: readonly CompiledMatch[];
  /** Reason why all its requests get 500: its filters cannot be applied, and must never be skipped. */
  readonly forbidden?: string;
}

/** A rule that is not applied, with the reason for the conditions `PartiallyInvalid` and `Accepted`. */
interface DroppedRule {
  readonly name: string;
  readonly reason: 'UnsupportedValue' | 'IncompatibleFilters';
  readonly message: string;
}

/** A route with its regular expressions compiled, once for all services to which it is bound. */
export interface CompiledRoute extends Route {
  readonly key: ResourceKey;
  readonly kind: RouteKind;
  readonly implicit: boolean;
  readonly rules: readonly CompiledRule[];
  readonly dropped: readonly DroppedRule[];
}

/** True for the kinds whose rules match requests, not whole connections. */
export const looksIntoRequests = (kind: RouteKind): kind is 'HTTPRoute' | 'GRPCRoute' =>
  kind === 'HTTPRoute' || kind === 'GRPCRoute';

/** Returns the kind of a route by its name; undefined for other kinds. */
function findRouteKind(kind: string): RouteKind | undefined {
  return routeKinds.find((known) => known === kind);
}

const RULES = FieldPath.at('spec').field('rules');

/**
 * Compiles a route: rules that cannot be applied in full are dropped with a reason, all others keep their order. Linear
 * in the spec; regular expressions are bounded (regular-expression.ts). Throws for resources of other kinds.
 */
export function compileRoute(route: Route): CompiledRoute {
  const kind = findRouteKind(route.id.kind);
  if (!kind) throw new TypeError(`${route.id.kind} is no kind of route`);
  const { id, creationOrder, generation, spec, unreadable, forbidden, implicit = false } = route;
  const rules: CompiledRule[] = [];
  const dropped: DroppedRule[] = [];
  let characters = 0;
  // An HTTPRoute without rules has one that matches everything (Gateway API, default of HTTPRoute.spec.rules).
  (spec.rules ?? (kind === 'HTTPRoute' ? [{}] : [])).forEach((rule, index) => {
    const name = rule.name ?? `rule-${index + 1}`;
    const unread = unreadable?.get(index);
    characters += countExpressionCharacters(kind, rule);
    const found = unread ? [unread] : tooManyExpressions(characters, RULES.index(index));
    const matches = found.length > 0 ? [] : compileRule(kind, rule, RULES.index(index), found);
    const written = forbidden?.get(index);
    const refusal = written && { forbidden: `${written.field} ${written.reason}` };
    if (found.length === 0) rules.push({ index, name, rule, matches, ...refusal });
    else dropped.push(dropRule(name, found));
  });
  return { key: identityKey(id), kind, id, creationOrder, generation, spec, implicit, rules, dropped };
}

function compileRule(kind: RouteKind, rule: RouteRule, at: FieldPath, found: Violation[]): CompiledMatch[] {
  if (!looksIntoRequests(kind)) return [];
  found.push(...filterViolations(rule, at));
  const matches = rule.matches?.length ? rule.matches : [{}];
  const compile = kind === 'HTTPRoute' ? compileHttpMatch : compileGrpcMatch;
  return matches.map((match, i) => compile(match, at.field('matches').index(i), found));
}

function dropRule(name: string, found: readonly Violation[]): DroppedRule {
  const [first] = found;
  const reason = found.every(({ rule }) => rule === 'not-allowed') ? 'IncompatibleFilters' : 'UnsupportedValue';
  return { name, reason, message: `Dropped Rule ${name}: ${first?.field ?? ''} ${first?.reason ?? ''}` };
}

/** Counts the characters of a rule's regular expressions. */
function countExpressionCharacters(kind: RouteKind, { matches = [] }: RouteRule): number {
  if (!looksIntoRequests(kind)) return 0;
  const countCharacters = (match: { readonly type?: string; readonly value?: string } | undefined): number =>
    match?.type === 'RegularExpression' ? (match.value?.length ?? 0) : 0;
  return matches.reduce((sum, { path, headers = [], queryParams = [], method }) => {
    const values = [path, ...headers, ...queryParams].reduce((all, match) => all + countCharacters(match), 0);
    const { type, service = '', method: called = '' } = typeof method === 'object' ? method : {};
    return sum + values + (type === 'RegularExpression' ? service.length + called.length : 0);
  }, 0);
}

function tooManyExpressions(characters: number, at: FieldPath): Violation[] {
  if (characters <= MAX_EXPRESSION_CHARACTERS) return [];
  const most = `the regular expressions of one route must have at most ${MAX_EXPRESSION_CHARACTERS} characters`;
  return [at.field('matches').violation(`${most}; up to here they have ${characters}`, 'too-large')];
}

/**
 * Returns violations of a route's rules that the schema of its kind cannot express, for admission. Field paths begin at
 * `at`, the spec. Linear in the spec.
 */
export function ruleViolations(kind: RouteKind, spec: RouteSpec, at: FieldPath): Violation[] {
  let characters = 0;
  return (spec.rules ?? []).flatMap((rule, index) => {
    const place = at.field('rules').index(index);
    characters += countExpressionCharacters(kind, rule);
    const found = tooManyExpressions(characters, place);
    if (found.length === 0) compileRule(kind, rule, place, found);
    return found;
  });
}

/** Returns a number below 0 if `a` is the older route; ties by namespace and name, then by zone of origin (T002-27). */
export function compareAges(a: CompiledRoute, b: CompiledRoute): number {
  return (
    computeOrder(a) - computeOrder(b) ||
    compareText(`${a.id.namespace}/${a.id.name}`, `${b.id.namespace}/${b.id.name}`) ||
    compareText(a.id.zone, b.id.zone)
  );
}

const computeOrder = ({ creationOrder }: CompiledRoute): number => creationOrder || Number.MAX_SAFE_INTEGER;
