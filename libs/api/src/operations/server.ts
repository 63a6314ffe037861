import { verbs } from '@causeway/kinds';
import { Type } from 'typebox';
import { operation } from '../operation';
import { Format, NamedParameter, TextParameter } from '../parameters';
import { AnyObject, component, Flag, Integer, Text, TextMap, Time, type Value } from '../schema';
import { AnyDocument } from '../schemas/documents';

const READS = [400, 403];

/** The description of the control plane. */
export const Root = Type.Object(
  {
    product: Text,
    version: Text,
    mode: Type.Enum(['global', 'zone']),
    zone: Type.Optional(Text),
    federated: Type.Optional(Flag),
    instanceId: Text,
    clusterId: Type.Optional(Text),
    revision: Type.Optional(Integer),
    startedAt: Type.Optional(Time),
    links: Type.Optional(TextMap),
  },
  component('Root'),
);
export type Root = Value<typeof Root>;

/** Product, role and replica, with links (docs/reference/kuma-rest.md §1.2). */
export const describeServer = operation({
  id: 'describeServer',
  method: 'GET',
  path: '/',
  summary: 'Which control plane this is',
  access: 'public',
  answer: { description: 'The answer.', schema: Root },
  problems: READS,
});

/** The description of a kind for clients. */
export const KindDescription = Type.Object(
  {
    name: Text,
    scope: Type.Enum(['Mesh', 'Global']),
    namespaced: Type.Optional(Flag),
    path: Text,
    shortName: Type.Optional(Text),
    singularDisplayName: Type.Optional(Text),
    pluralDisplayName: Type.Optional(Text),
    readOnly: Flag,
    writtenOn: Type.Optional(Type.Array(Type.Enum(['global', 'zone']))),
    includeInFederation: Type.Optional(Flag),
    confidential: Type.Optional(Flag),
  },
  component('KindDescription'),
);
export type KindDescription = Value<typeof KindDescription>;

/** Every kind, by name, and the default mesh of requests without one. */
export const listKinds = operation({
  id: 'listKinds',
  method: 'GET',
  path: '/_resources',
  summary: 'Every kind, and the mesh that is meant where a request names none',
  access: 'any-right',
  answer: {
    description: 'The answer.',
    schema: Type.Object({ resources: Type.Array(KindDescription), defaultMesh: Text }),
  },
  problems: READS,
});

/** The resource with an identifier; 400 for malformed identifiers. */
export const getByKri = operation({
  id: 'getByKri',
  method: 'GET',
  path: '/_kri/{kri}',
  summary: 'Read the resource that an identifier names',
  access: 'any-right',
  query: Format,
  answer: { description: 'The answer.', schema: AnyObject },
  problems: [400, 403, 404],
});

/** The authenticated caller and its roles. */
export const whoAmI = operation({
  id: 'whoAmI',
  method: 'GET',
  path: '/who-am-i',
  summary: 'Whom the server takes the caller for',
  access: 'public',
  answer: {
    description: 'The answer.',
    schema: Type.Object(
      {
        name: Text,
        groups: Type.Array(Text),
        by: Type.Enum(['user-token', 'dataplane-token', 'oidc', 'operator-token', 'local-socket', 'nothing']),
        roles: Type.Array(Type.Object({ role: Text, binding: Text, effect: Type.Enum(['grants', 'restricts']) })),
      },
      component('Caller'),
    ),
  },
  problems: READS,
});

/** The authority by which clients verify this server; 404 if it belongs to somebody else. */
export const showAuthority = operation({
  id: 'showAuthority',
  method: 'GET',
  path: '/rest/ca',
  summary: 'What clients verify this server by, in PEM',
  access: 'public',
  answer: { description: 'A certificate.', schema: Text, type: 'application/x-pem-file' },
  problems: [400, 404],
});

/** Access of the caller unless user or groups are given, which requires no right; for others the caller needs `get` on AccessReview. */
export const reviewAccess = operation({
  id: 'reviewAccess',
  method: 'GET',
  path: '/_access',
  summary: 'Who may do what, and by which binding',
  access: 'public',
  query: {
    user: NamedParameter('The user; left out, with group: the caller itself.'),
    group: TextParameter('Groups of the user, separated by commas.', 1_024),
    verb: Type.Enum([...verbs], { type: 'string', description: 'What is to be done.', example: 'update' }),
    kind: Type.String({
      description: 'A kind by any of its names, or an activity.',
      minLength: 1,
      maxLength: 253,
      example: 'MeshService',
    }),
    mesh: NamedParameter('The mesh; left out: all of them.'),
    namespace: NamedParameter('The namespace; left out: all of them.'),
  },
  answer: {
    description: 'The answer.',
    schema: Type.Object({ allowed: Flag, binding: Type.Optional(Text), role: Type.Optional(Text), reason: Text }),
  },
  problems: [400, 403, 422],
});

/** The configuration without secrets. */
export const showConfig = operation({
  id: 'showConfig',
  method: 'GET',
  path: '/config',
  summary: 'The configuration, without secrets',
  access: { verb: 'get', kinds: ['Configuration'] },
  answer: { description: 'The answer.', schema: AnyDocument },
  problems: READS,
});

/** The OpenAPI document of this server. */
export const showOpenApi = operation({
  id: 'showOpenApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This document',
  access: 'public',
  answer: { description: 'The answer.', schema: AnyObject },
  problems: READS,
});

/** Whether the control plane is ready; served on the diagnostics port, so it is not part of the REST interface and its document. */
export const showReadiness = operation({
  id: 'showReadiness',
  method: 'GET',
  path: '/ready',
  summary: 'Whether it is ready, and what may need attention',
  access: 'public',
  answer: { description: 'A line, then warnings.', schema: Text, type: 'text/plain' },
  problems: [503],
});
