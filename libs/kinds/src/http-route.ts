import { Type } from 'typebox';
import { ruleViolations, type RouteSpec } from '@causeway/routing';
import { defineKind, httpProblem, type FieldPath, type Violation } from '@causeway/resources';
import {
  GatewayDuration,
  HeaderMatches,
  Hostnames,
  HttpBackends,
  HttpFilters,
  Method,
  ParentRefs,
  PathMatch,
  QueryMatches,
  routeKind,
  SectionName,
} from './schema/route-parts';
import { hostnameWarnings, routeViolations } from './schema/route-rules';
import { Optionals, strict } from './schema/schema-parts';
import { foreignReferences } from './stored/foreign-references';

const Match = Optionals({ path: PathMatch, headers: HeaderMatches, queryParams: QueryMatches, method: Method });

/** One rule of an HTTPRoute. */
export const HttpRule = Optionals({
  name: SectionName,
  matches: Type.Array(Match, { maxItems: 64 }),
  filters: HttpFilters,
  backendRefs: HttpBackends,
  timeouts: Optionals({ request: GatewayDuration, backendRequest: GatewayDuration }),
});

const Spec = Type.Partial(
  Type.Object({
    parentRefs: ParentRefs,
    hostnames: Hostnames,
    rules: Type.Array(HttpRule, { minItems: 1, maxItems: 16 }),
  }),
  {
    ...strict,
    examples: [
      {
        parentRefs: [{ kind: 'Service', name: 'foo' }],
        rules: [
          {
            backendRefs: [
              { name: 'foo', port: 80, weight: 90 },
              { name: 'foo-v2', port: 80, weight: 10 },
            ],
          },
        ],
      },
    ],
  },
);

/** Routes HTTP requests to a service (seed GEP-1426; fields and bounds of the Gateway API's standard channel). */
export const HTTPRoute = defineKind({
  ...routeKind('HTTPRoute'),
  spec: Spec,
  validate: (spec, at) => [
    ...routeViolations(spec, at),
    ...pathViolations(spec, at.field('rules')),
    ...ruleViolations('HTTPRoute', spec, at),
  ],
  warn: ({ spec }) => [...hostnameWarnings(spec), ...foreignReferences(spec)],
});

const FORBIDDEN = ['//', '/./', '/../', '%2f', '%2F', '#'];

/** Returns violations of the Gateway API's rules for paths that are not regular expressions. */
function pathViolations({ rules = [] }: RouteSpec, at: FieldPath): Violation[] {
  return rules.flatMap(({ matches = [] }, i) =>
    matches.flatMap(({ path }, j) => {
      const problem =
        path?.value === undefined || path.type === 'RegularExpression' ? undefined : pathProblem(path.value);
      const field = at.index(i).field('matches').index(j).field('path').field('value');
      return problem === undefined ? [] : [field.violation(`${problem}; got "${path?.value ?? ''}"`, 'wrong-form')];
    }),
  );
}

function pathProblem(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must start with /';
  const forbidden = FORBIDDEN.find((part) => path.includes(part));
  if (forbidden !== undefined) return `must not contain ${forbidden}`;
  if (path.endsWith('/.') || path.endsWith('/..')) return 'must not end with /. or /..';
  return /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})+$/.test(path)
    ? httpProblem('matched path', path)
    : 'must have no characters that a path writes as %XX';
}
