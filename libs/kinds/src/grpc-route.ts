import { Type } from 'typebox';
import { ruleViolations, type RouteSpec } from '@causeway/routing';
import { defineKind, type FieldPath, type Violation } from '@causeway/resources';
import {
  GrpcBackends,
  GrpcFilters,
  HeaderMatches,
  Hostnames,
  MethodMatch,
  ParentRefs,
  routeKind,
  SectionName,
} from './schema/route-parts';
import { hostnameWarnings, routeViolations } from './schema/route-rules';
import { Optionals, strict } from './schema/schema-parts';
import { foreignReferences } from './stored/foreign-references';

/** One rule of a GRPCRoute. */
export const GrpcRule = Optionals({
  name: SectionName,
  matches: Type.Array(Optionals({ method: MethodMatch, headers: HeaderMatches }), { maxItems: 64 }),
  filters: GrpcFilters,
  backendRefs: GrpcBackends,
});

const Spec = Type.Partial(
  Type.Object({ parentRefs: ParentRefs, hostnames: Hostnames, rules: Type.Array(GrpcRule, { maxItems: 16 }) }),
  {
    ...strict,
    examples: [
      {
        parentRefs: [{ kind: 'Service', name: 'echo', port: 7070 }],
        rules: [{ matches: [{ method: { service: 'echo.Echo' } }], backendRefs: [{ name: 'echo', port: 7070 }] }],
      },
    ],
  },
);

/** Routes gRPC calls to a service (seed GEP-1426; fields and bounds of the Gateway API's standard channel). */
export const GRPCRoute = defineKind({
  ...routeKind('GRPCRoute'),
  spec: Spec,
  validate: (spec, at) => [
    ...routeViolations(spec, at),
    ...methodViolations(spec, at.field('rules')),
    ...ruleViolations('GRPCRoute', spec, at),
  ],
  warn: ({ spec }) => [...hostnameWarnings(spec), ...foreignReferences(spec)],
});

function methodViolations({ rules = [] }: RouteSpec, at: FieldPath): Violation[] {
  return rules.flatMap(({ matches = [] }, i) =>
    matches.flatMap(({ method }, j) =>
      typeof method === 'object' ? oneMethod(method, at.index(i).field('matches').index(j).field('method')) : [],
    ),
  );
}

function oneMethod(
  { type = 'Exact', service, method }: { readonly type?: string; readonly service?: string; readonly method?: string },
  at: FieldPath,
): Violation[] {
  if (!service && !method) return [at.violation('must have service, method or both', 'required')];
  if (type !== 'Exact') return [];
  const good = { service: /^\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*$/i, method: /^[A-Za-z_][A-Za-z_0-9]*$/ };
  return (['service', 'method'] as const).flatMap((name) => {
    const value = { service, method }[name];
    return !value || good[name].test(value)
      ? []
      : [at.field(name).violation(`must be the name of a ${name}; got "${value}"`, 'wrong-form')];
  });
}
