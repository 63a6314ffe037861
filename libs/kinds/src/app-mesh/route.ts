import { Type, type Static } from 'typebox';
import { compileExpression } from '@causeway/routing';
import { HTTP_ROLE, type FieldPath, type Violation } from '@causeway/resources';
import { Optionals, PortNumber, strict } from '../schema/schema-parts';
import { AppMeshDuration, AwsText, IdleTimeout, refuse, refuseAwsName, RequestTimeout, TypedRef } from './parts';

const MatchedText = Type.String({ minLength: 1, maxLength: 255, [HTTP_ROLE]: 'matched text' });
const MatchedPath = Type.String({ minLength: 1, maxLength: 255, [HTTP_ROLE]: 'matched path' });
const FieldName = Type.String({ minLength: 1, maxLength: 255, [HTTP_ROLE]: 'matched name' });
const Integer = Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 });

/** Condition on a header or metadata: one of these; without any, the header must be present. */
const TextMatch = Optionals({
  exact: MatchedText,
  prefix: MatchedText,
  suffix: MatchedText,
  regex: MatchedText,
  range: Type.Object({ start: Integer, end: Integer }, strict),
});
const NamedMatches = Type.Array(
  Type.Object(
    { name: FieldName, match: Type.Optional(TextMatch), invert: Type.Optional(Type.Boolean()) },
    { ...strict },
  ),
  { minItems: 1, maxItems: 10 },
);

const HttpMatch = Optionals({
  prefix: Type.String({ minLength: 1, maxLength: 1_024, [HTTP_ROLE]: 'matched path' }),
  path: Optionals({ exact: MatchedPath, regex: MatchedText }),
  headers: NamedMatches,
  method: Type.Enum(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']),
  scheme: Type.Enum(['http', 'https']),
  queryParameters: Type.Array(
    Type.Object({ name: FieldName, match: Type.Optional(Optionals({ exact: MatchedText })) }, strict),
    { minItems: 1, maxItems: 10 },
  ),
  port: PortNumber,
});

const GrpcMatch = Optionals({
  serviceName: Type.String({ maxLength: 1_024, [HTTP_ROLE]: 'matched text' }),
  methodName: MatchedText,
  metadata: NamedMatches,
  port: PortNumber,
});

const WeightedTarget = Type.Object(
  {
    virtualNodeRef: TypedRef,
    virtualNodeARN: Type.Optional(AwsText),
    weight: Type.Integer({ minimum: 0, maximum: 100 }),
    port: Type.Optional(PortNumber),
  },
  strict,
);
const Action = Type.Object({ weightedTargets: Type.Array(WeightedTarget, { minItems: 1, maxItems: 10 }) }, strict);

const httpEvents = {
  httpRetryEvents: Type.Optional(
    Type.Array(Type.Enum(['server-error', 'gateway-error', 'client-error', 'stream-error']), {
      minItems: 1,
      maxItems: 25,
    }),
  ),
  tcpRetryEvents: Type.Optional(Type.Array(Type.Enum(['connection-error']), { minItems: 1, maxItems: 1 })),
  maxRetries: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
  perRetryTimeout: AppMeshDuration,
};
const HttpRetry = Type.Object(httpEvents, strict);
const GrpcRetry = Type.Object(
  {
    grpcRetryEvents: Type.Optional(
      Type.Array(Type.Enum(['cancelled', 'deadline-exceeded', 'internal', 'resource-exhausted', 'unavailable']), {
        minItems: 1,
        maxItems: 5,
      }),
    ),
    ...httpEvents,
  },
  strict,
);

const HttpBody = Type.Object(
  {
    match: HttpMatch,
    action: Action,
    retryPolicy: Type.Optional(HttpRetry),
    timeout: Type.Optional(RequestTimeout),
  },
  strict,
);
const GrpcBody = Type.Object(
  {
    match: GrpcMatch,
    action: Action,
    retryPolicy: Type.Optional(GrpcRetry),
    timeout: Type.Optional(RequestTimeout),
  },
  strict,
);
const TcpBody = Type.Object(
  {
    match: Type.Optional(Optionals({ port: PortNumber })),
    action: Action,
    timeout: Type.Optional(IdleTimeout),
  },
  strict,
);

/** One route of a VirtualRouter: exactly one protocol, under its name in the seed or in later versions (T003-18). */
export const VirtualRoute = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255 }),
    priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000 })),
    http: Type.Optional(HttpBody),
    httpRoute: Type.Optional(HttpBody),
    http2: Type.Optional(HttpBody),
    http2Route: Type.Optional(HttpBody),
    grpc: Type.Optional(GrpcBody),
    grpcRoute: Type.Optional(GrpcBody),
    tcp: Type.Optional(TcpBody),
    tcpRoute: Type.Optional(TcpBody),
  },
  strict,
);
export type VirtualRoute = Static<typeof VirtualRoute>;

const httpWords = ['http', 'httpRoute', 'http2', 'http2Route'] as const;
const grpcWords = ['grpc', 'grpcRoute'] as const;
const tcpWords = ['tcp', 'tcpRoute'] as const;
const words = [...httpWords, ...grpcWords, ...tcpWords];

/** Returns a route's protocol, and its port if it names one. */
export function parseRouteProtocol(
  route: VirtualRoute,
): { readonly protocol: string; readonly port?: number | undefined } | undefined {
  const word = words.find((each) => route[each] !== undefined);
  return word && { protocol: word.replace('Route', ''), port: route[word]?.match?.port };
}

/** Returns violations of the rules of one route that its schema cannot express. */
export function routeViolations(route: VirtualRoute, at: FieldPath): Violation[] {
  const given = words.filter((word) => route[word] !== undefined);
  return [
    ...(given.length === 1 ? [] : [at.violation(oneProtocol(given), given.length === 0 ? 'required' : 'invalid')]),
    ...words.flatMap((word) => targetViolations(route[word]?.action.weightedTargets ?? [], at.field(word))),
    ...httpWords.flatMap((word) => httpViolations(route[word]?.match, at.field(word).field('match'))),
    ...grpcWords.flatMap((word) => grpcViolations(route[word]?.match, at.field(word).field('match'))),
  ];
}

function oneProtocol(given: readonly string[]): string {
  return `must have exactly one of http, http2, grpc, tcp; ${given.length === 0 ? 'has none' : `has ${given.join(', ')}`}`;
}

function targetViolations(targets: readonly Static<typeof WeightedTarget>[], at: FieldPath): Violation[] {
  return targets.flatMap(({ virtualNodeRef, virtualNodeARN }, i) => {
    const target = at.field('action').field('weightedTargets').index(i);
    return [
      ...refuse(virtualNodeARN, target.field('virtualNodeARN'), 'name the node with virtualNodeRef'),
      ...refuseAwsName(virtualNodeRef, target.field('virtualNodeRef')),
    ];
  });
}

function httpViolations(match: Static<typeof HttpMatch> | undefined, at: FieldPath): Violation[] {
  if (!match) return [];
  const { prefix, path, headers = [] } = match;
  return [
    ...(prefix === undefined && path === undefined ? [at.violation('must have prefix or path', 'required')] : []),
    ...(prefix === undefined || path === undefined ? [] : [at.violation('must have only one of prefix, path')]),
    ...checkLeadingSlash(prefix, at.field('prefix')),
    ...(path ? checkExactlyOne(path, ['exact', 'regex'], at.field('path')) : []),
    ...checkLeadingSlash(path?.exact, at.field('path').field('exact')),
    ...checkExpression(path?.regex, at.field('path').field('regex')),
    ...namedViolations(headers, at.field('headers')),
  ];
}

function grpcViolations(match: Static<typeof GrpcMatch> | undefined, at: FieldPath): Violation[] {
  if (!match) return [];
  const { serviceName, methodName, metadata = [] } = match;
  const lone = methodName !== undefined && !serviceName;
  return [
    ...(lone ? [at.field('serviceName').violation('is required with methodName', 'required')] : []),
    ...namedViolations(metadata, at.field('metadata')),
  ];
}

function namedViolations(items: Static<typeof NamedMatches>, at: FieldPath): Violation[] {
  return items.flatMap(({ match }, i) => {
    if (!match) return [];
    const field = at.index(i).field('match');
    return [
      ...checkExactlyOne(match, ['exact', 'prefix', 'suffix', 'regex', 'range'], field),
      ...checkExpression(match.regex, field.field('regex')),
    ];
  });
}

function checkExactlyOne(of: object, fields: readonly string[], at: FieldPath): Violation[] {
  const given = fields.filter((field) => Object.hasOwn(of, field));
  if (given.length === 1) return [];
  return [at.violation(`must have exactly one of ${fields.join(', ')}; has ${given.join(', ') || 'none'}`)];
}

function checkLeadingSlash(path: string | undefined, at: FieldPath): Violation[] {
  return path === undefined || path.startsWith('/')
    ? []
    : [at.violation(`must start with /; got "${path}"`, 'wrong-form')];
}

function checkExpression(text: string | undefined, at: FieldPath): Violation[] {
  const compiled = text === undefined ? undefined : compileExpression(text);
  return compiled?.ok === false ? [at.violation(compiled.reason, 'wrong-form')] : [];
}
