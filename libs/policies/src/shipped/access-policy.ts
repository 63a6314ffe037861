import { compileSchema } from '@causeway/resources';
import { Type, type Static } from 'typebox';
import { Optionals, strict } from './schema-parts';
import { backendPolicy } from './backend-policy';
import type { DataplaneMode, ShippedPolicy, UnsupportedField } from './shipped-policy';

/** Maximum number of rules under `allow` of one policy, and under `deny`. */
const MAX_RULES = 32;
/** Maximum number of rules of an effective policy: one policy per level, for defaults and for overrides. */
const MAX_EFFECTIVE_RULES = 8 * MAX_RULES;

const Name = Type.String({
  title: 'a name of lower-case letters, digits, "-" and "."',
  maxLength: 253,
  pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
});
/** A prefix matches whole elements, so never part of a trust domain. */
const SpiffeIdMatch = Type.Object(
  {
    type: Type.Enum(['Exact', 'Prefix']),
    value: Type.String({
      title: 'spiffe://, a trust domain, "/", and a path or its beginning',
      maxLength: 2_048,
      pattern: '^spiffe://[a-z0-9._-]+/([A-Za-z0-9._-]+/)*[A-Za-z0-9._-]*$',
    }),
  },
  strict,
);
/** The caller must match all fields of an entry. */
const CallerMatch = Type.Partial(
  Type.Object({
    spiffeId: SpiffeIdMatch,
    namespace: Name,
    zone: Name,
    /** A caller that is an instance of this service, in any zone. */
    service: Type.Object({ namespace: Name, name: Name }, strict),
  }),
  { ...strict, minProperties: 1 },
);
const Path = Type.Object(
  {
    type: Type.Enum(['Exact', 'PathPrefix']),
    value: Type.String({
      title: `a path that begins with "/": between two "/" letters, digits and !$&'()*+,.:=@_~-, neither "." nor ".." alone`,
      maxLength: 1_024,
      pattern: "^/([A-Za-z0-9!$&'()*+,.:=@_~-]+/)*[A-Za-z0-9!$&'()*+,.:=@_~-]*$",
      not: { pattern: '/\\.\\.?(/|$)' },
    }),
  },
  strict,
);
/** A request must match one of the methods and one of the paths. */
const RequestMatch = Type.Partial(
  Type.Object({
    methods: Type.Array(Type.String({ title: 'a method in capitals', maxLength: 32, pattern: '^[A-Z][A-Z-]*$' }), {
      minItems: 1,
      maxItems: 16,
    }),
    paths: Type.Array(Path, { minItems: 1, maxItems: 32 }),
  }),
  { ...strict, minProperties: 1 },
);
const Rule = Optionals({
  from: Type.Array(CallerMatch, { minItems: 1, maxItems: 32 }),
  to: Type.Array(RequestMatch, { minItems: 1, maxItems: 16 }),
});

const rules = (maxProperties: number) =>
  Type.Record(Type.String(), Rule, {
    maxProperties,
    propertyNames: {
      title: 'a name of lower-case letters, digits and "-"',
      maxLength: 63,
      pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
    },
  });
const Spec = Optionals({ allow: rules(MAX_RULES), deny: rules(MAX_RULES) });
/** Rules of several policies with different names form one effective policy. */
const { fits } = compileSchema(Optionals({ allow: rules(MAX_EFFECTIVE_RULES), deny: rules(MAX_EFFECTIVE_RULES) }));

export type AccessSpec = Static<typeof Spec>;
export type AccessRule = Static<typeof Rule>;
export type AccessCallerMatch = Static<typeof CallerMatch>;
export type AccessRequestMatch = Static<typeof RequestMatch>;

/**
 * Controls who may call a service. A matching `deny` refuses; else a matching `allow` admits; else, if the effective
 * policy has `allow`, the call is refused; else `MeshParameters.defaultAccess` decides
 * (docs/reference/policies-shipped.md, AccessPolicy).
 */
export const AccessPolicy: ShippedPolicy<typeof Spec> = {
  ...backendPolicy({
    kind: 'AccessPolicy',
    plural: 'accesspolicies',
    shortName: 'acp',
    description:
      'Says who may call services: by identity, namespace, zone and service of the caller, by method and path.',
    at: 'server',
    does: 'says who may send',
    isAtEgress: true,
    schema: Spec,
    unsupported,
  }),
  read: (spec) => (fits(spec) ? spec : undefined),
};

/** The builtin proxy and the egress see connections, not requests; they refuse calls that they cannot evaluate. */
function unsupported(plane: DataplaneMode, { allow = {}, deny = {} }: AccessSpec): readonly UnsupportedField[] {
  if (plane === 'direct')
    return [
      {
        field: '',
        reason: 'the plane direct leaves connections to the kernel, without an identity: the inbound is refused',
      },
    ];
  if (plane === 'kuma-dp') return [{ field: '', reason: 'proxies of Kuma zones are configured there' }];
  if (plane !== 'builtin' && plane !== 'egress') return [];
  const bytes = `the ${plane === 'egress' ? 'zone egress' : 'builtin proxy'} passes requests on as bytes`;
  return [
    ...namesWithTo(deny).map((name) => ({
      field: `/deny/${name}/to`,
      reason: `${bytes}: all connections of its callers are refused`,
    })),
    ...namesWithTo(allow).map((name) => ({ field: `/allow/${name}/to`, reason: `${bytes}: the rule allows nobody` })),
  ];
}

function namesWithTo(rules: Readonly<Record<string, AccessRule>>): readonly string[] {
  return Object.keys(rules).filter((name) => rules[name]?.to);
}
