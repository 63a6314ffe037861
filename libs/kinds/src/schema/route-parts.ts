import { Type } from 'typebox';
import { HTTP_ROLE, Sync } from '@causeway/resources';
import {
  filterTypes,
  methods,
  pathChangeTypes,
  pathMatchTypes,
  redirectSchemes,
  redirectStatusCodes,
  valueMatchTypes,
  type RouteKind,
} from '@causeway/routing';
import { Optionals, PortNumber, strict } from './schema-parts';

/** The group of the Gateway API's kinds. */
export const GATEWAY_API = 'gateway.networking.k8s.io';

const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';

/** Fields of references, with the bounds of the Gateway API. A version in a group is ignored (T002-09). */
export const Group = Type.String({
  title: 'a group such as kuma.io, or empty',
  maxLength: 253,
  pattern: `^$|^${SUBDOMAIN}(/[a-z0-9]+)?$`,
});
export const KindName = Type.String({
  title: 'a kind such as Service',
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$',
});
export const NamespaceName = Type.String({
  title: 'a namespace',
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
});
export const ObjectName = Type.String({ minLength: 1, maxLength: 253 });
export const SectionName = Type.String({
  title: 'a name such as http',
  minLength: 1,
  maxLength: 253,
  pattern: `^${SUBDOMAIN}$`,
});
/** A host name; the first label may be `*`. */
export const Hostname = Type.String({
  title: 'a host name such as example.com or *.example.com',
  minLength: 1,
  maxLength: 253,
  pattern: `^(\\*\\.)?${SUBDOMAIN}$`,
});
const PreciseHostname = Type.String({
  title: 'a host name such as example.com',
  minLength: 1,
  maxLength: 253,
  pattern: `^${SUBDOMAIN}$`,
});

const objectRef = {
  group: Type.Optional(Group),
  kind: Type.Optional(KindName),
  namespace: Type.Optional(NamespaceName),
  name: ObjectName,
  port: Type.Optional(PortNumber),
};

/** Reference to the service or listener to which a route binds. */
export const ParentRef = Type.Object({ ...objectRef, sectionName: Type.Optional(SectionName) }, strict);
export const ParentRefs = Type.Array(ParentRef, { maxItems: 32 });

export const Hostnames = Type.Array(Hostname, { maxItems: 16 });

const weight = { weight: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })) };

/** References to the destinations of connections, with weights; 1 unless set. */
const Backends = Type.Array(Type.Object({ ...objectRef, ...weight }, strict), { minItems: 1, maxItems: 16 });

/** The only rule of a route of whole connections, and the rest of the route's schema. */
export const ConnectionRule = Type.Object({ name: Type.Optional(SectionName), backendRefs: Backends }, strict);
export const ConnectionRules = Type.Array(ConnectionRule, { minItems: 1, maxItems: 1 });
export const connectionRoute = {
  ...strict,
  examples: [
    { parentRefs: [{ kind: 'Service', name: 'db' }], rules: [{ backendRefs: [{ name: 'db-v2', port: 5432 }] }] },
  ],
};

const headerName = {
  title: 'a header name',
  minLength: 1,
  maxLength: 256,
  pattern: "^[A-Za-z0-9!#$%&'*+\\-.^_`|~]+$",
};
const ChangedHeader = Type.String({ ...headerName, [HTTP_ROLE]: 'changed header' });
const HeaderValue = Type.String({ minLength: 1, maxLength: 4_096, [HTTP_ROLE]: 'header value' });
const NamedValue = Type.Object({ name: ChangedHeader, value: HeaderValue }, strict);
const HeaderChanges = Optionals({
  set: Type.Array(NamedValue, { maxItems: 16 }),
  add: Type.Array(NamedValue, { maxItems: 16 }),
  remove: Type.Array(ChangedHeader, { maxItems: 16 }),
});

const NewPath = Type.String({ maxLength: 1_024, [HTTP_ROLE]: 'new path' });
const PathChange = Type.Object(
  {
    type: Type.Enum([...pathChangeTypes]),
    replaceFullPath: Type.Optional(NewPath),
    replacePrefixMatch: Type.Optional(NewPath),
  },
  strict,
);

const Redirect = Optionals({
  scheme: Type.Enum([...redirectSchemes]),
  hostname: PreciseHostname,
  path: PathChange,
  port: PortNumber,
  statusCode: Type.Enum([...redirectStatusCodes]),
});

const Mirror = Type.Object(
  {
    backendRef: Type.Object(objectRef, strict),
    percent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    fraction: Type.Optional(
      Type.Object(
        {
          numerator: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
          denominator: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
        },
        strict,
      ),
    ),
  },
  strict,
);

const grpcFilterFields = {
  requestHeaderModifier: Type.Optional(HeaderChanges),
  responseHeaderModifier: Type.Optional(HeaderChanges),
  requestMirror: Type.Optional(Mirror),
  extensionRef: Type.Optional(Type.Object({ group: Group, kind: KindName, name: ObjectName }, strict)),
};

const HttpFilter = Type.Object(
  {
    type: Type.Enum([...filterTypes]),
    ...grpcFilterFields,
    requestRedirect: Type.Optional(Redirect),
    urlRewrite: Type.Optional(Optionals({ hostname: PreciseHostname, path: PathChange })),
  },
  strict,
);

const GrpcFilter = Type.Object(
  {
    type: Type.Enum(['RequestHeaderModifier', 'ResponseHeaderModifier', 'RequestMirror', 'ExtensionRef']),
    ...grpcFilterFields,
  },
  strict,
);

/** Filters of an HTTPRoute and of a GRPCRoute, at most 16. */
export const HttpFilters = Type.Array(HttpFilter, { maxItems: 16 });
export const GrpcFilters = Type.Array(GrpcFilter, { maxItems: 16 });

/** Backends of an HTTPRoute and of a GRPCRoute, with their own filters. */
export const HttpBackends = Type.Array(
  Type.Object({ ...objectRef, ...weight, filters: Type.Optional(HttpFilters) }, strict),
  { maxItems: 16 },
);
export const GrpcBackends = Type.Array(
  Type.Object({ ...objectRef, ...weight, filters: Type.Optional(GrpcFilters) }, strict),
  { maxItems: 16 },
);

const valueMatch = (longest: number) =>
  Type.Array(
    Type.Object(
      {
        type: Type.Optional(Type.Enum([...valueMatchTypes])),
        name: Type.String({ ...headerName, [HTTP_ROLE]: 'matched name' }),
        value: Type.String({ minLength: 1, maxLength: longest, [HTTP_ROLE]: 'matched text' }),
      },
      strict,
    ),
    { maxItems: 16 },
  );

/** Matches of headers and of query parameters. */
export const HeaderMatches = valueMatch(4_096);
export const QueryMatches = valueMatch(1_024);

const MatchedText = Type.String({ maxLength: 1_024, [HTTP_ROLE]: 'matched text' });
export const PathMatch = Optionals({
  type: Type.Enum([...pathMatchTypes]),
  value: MatchedText,
});
export const Method = Type.Enum([...methods]);
export const MethodMatch = Optionals({
  type: Type.Enum([...valueMatchTypes]),
  service: MatchedText,
  method: MatchedText,
});

/** A duration in the format of GEP-2257. */
export const GatewayDuration = Type.String({
  title: 'a duration such as 500ms, 10s, 1h30m',
  maxLength: 32,
  pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$',
});

/** Returns the parts of a declaration that all kinds of routes share. */
export function routeKind<Name extends RouteKind>(name: Name) {
  const shortName = name.toLowerCase();
  const apiVersion = `${GATEWAY_API}/v1`;
  const place = { scope: 'mesh', namespaced: true, sync: Sync.routes } as const;
  return { name, plural: `${shortName}s`, shortName, apiVersion, ...place };
}
