import { Type, type TSchema } from 'typebox';
import type { Kind } from '@causeway/resources';
import { kindOperation, type CalledKind, type OperationAnswer, type ResponseHeader } from '../operation';
import { deleteParameters, getParameters, listParameters, writeParameters } from '../parameters';
import { AnyObject, component, Page, strict, Text, type Value } from '../schema';
import { ServiceName } from '../schemas/named';
import { AnyDocument, componentRef, documentBody, documentRef, listedName } from '../schemas/documents';

/** The revision of an answer. */
const REVISION_HEADER: Readonly<Record<string, ResponseHeader>> = {
  'Causeway-Revision': { description: 'The revision of the store that this answer shows or made.', schema: Text },
};
const OUTCOME_HEADER: Readonly<Record<string, ResponseHeader>> = {
  'Causeway-Outcome': {
    description: 'What became of it; an equal resource is left as it is.',
    schema: Type.Enum(['created', 'updated', 'unchanged'], { type: 'string' }),
  },
};
const ETAG_HEADER: Readonly<Record<string, ResponseHeader>> = {
  ETag: { description: 'This state of the resource, for If-Match.', schema: Text },
};

/** Answer to a write. */
export const Written = Type.Object(
  { warnings: Type.Optional(Type.Array(Text)) },
  component('Written', { description: 'Empty, or what is legal and probably not meant.', ...strict }),
);

/** The effect of a HostnameGenerator if it were written now. */
export const GeneratorDryRun = Type.Object({
  /** Each with the service that would lose the name to it (`takesFrom`), or the reason why it would lose (`reason`). */
  names: Type.Array(
    Type.Object({
      mesh: Text,
      hostname: Text,
      service: ServiceName,
      status: Type.Enum(['Available', 'NotAvailable']),
      takesFrom: Type.Optional(Type.Object({ service: ServiceName, reason: Text })),
      reason: Type.Optional(Text),
    }),
  ),
  /** Services that it selects but cannot name. */
  unnamed: Type.Array(Type.Object({ service: ServiceName, reason: Text })),
  /** Names that the stored generator of this identity assigns and the new one would not. */
  dropped: Type.Array(Type.Object({ mesh: Text, hostname: Text, service: ServiceName })),
});
export type GeneratorDryRun = Value<typeof GeneratorDryRun>;

/** Answer to a write of a HostnameGenerator; only a dry run has the names. */
const WrittenGenerator = Type.Object(
  { ...Written.properties, ...Type.Partial(GeneratorDryRun).properties },
  component('WrittenGenerator', {
    description:
      'After a dry run: names that the generator would assign and the collisions that it would win and lose; services that it would leave without a name; names that its stored version assigns and the new one would not.',
    ...strict,
  }),
);

/** An event of a watch. */
const WatchEvent = Type.Object(
  {
    event: Type.Enum(['put', 'delete', 'bookmark', 'relist', 'error']),
    id: Type.Optional(Text),
    data: Text,
  },
  component('WatchEvent', {
    description:
      'With watch=true. put: a resource as it is now; delete: the identity of one that went; bookmark: the revision sent so far; relist: list again; error: a problem document, the caller may not watch any more. Only a bookmark has an id, for Last-Event-ID.',
  }),
);

const ANY_KIND = (): boolean => true;
const IN_MESH = ({ scope }: Kind): boolean => scope === 'mesh';
/** Paths of one resource: of a kind with a mesh, and of a kind without one. */
const ONE = { path: '/meshes/{mesh}/{plural}/{name}', aliases: ['/{plural}/{name}'] } as const;
const WRITE_PROBLEMS = [400, 403, 404, 409, 412, 413, 415, 422];
const IF_MATCH = { 'If-Match': 'The ETag that the stored resource must have, else 412.' };

const ROLES: Readonly<Record<Kind['writer'], string>> = {
  owner: 'service-owner',
  operator: 'mesh-operator',
  admin: 'admin',
};

/** `an HTTPRoute`, `a Mesh`. */
function withArticle(name: string): string {
  return `${/^[AEIOX]/.test(name) ? 'an' : 'a'} ${name}`;
}

function list(suffix: string) {
  return ({ kind, name, plural }: CalledKind) => ({
    id: `list${name}${suffix}`,
    summary: `List or watch ${plural}${suffix === '' ? '' : ' of all meshes'}`,
    answer: describePage(componentRef(listedName(kind))),
  });
}

function describePage<I extends TSchema>(item: I) {
  return {
    description: 'A page of resources.',
    schema: Page(item),
    headers: REVISION_HEADER,
    also: { 'text/event-stream': WatchEvent },
  };
}

const LIST = {
  method: 'GET',
  grpc: 'ResourceService.List',
  access: 'list',
  query: listParameters,
  answer: describePage(AnyDocument),
  headers: { 'Last-Event-ID': 'With watch: the id of the last event seen; goes before `since`.' },
  problems: [400, 403, 404, 410],
} as const;

/** A list of a kind without a mesh, or over all meshes; with `watch=true` server-sent events. */
export const listResources = kindOperation({
  ...LIST,
  path: '/{plural}',
  kinds: ANY_KIND,
  of: (called) => list(called.kind.scope === 'mesh' ? 'OfAllMeshes' : '')(called),
});

/** A list of a kind in one mesh; with `watch=true` server-sent events. */
export const listResourcesOfMesh = kindOperation({
  ...LIST,
  path: '/meshes/{mesh}/{plural}',
  kinds: IN_MESH,
  of: list(''),
});

function describeDocument<A extends TSchema>(schema: A): OperationAnswer<A> {
  return { description: 'The resource.', schema, headers: { ...REVISION_HEADER, ...ETAG_HEADER } };
}

/** One resource by its plain name or its name on the KDS wire, with its ETag. */
export const getResource = kindOperation({
  ...ONE,
  method: 'GET',
  grpc: 'ResourceService.Get',
  access: 'any-right',
  kinds: ANY_KIND,
  of: ({ kind, name }) => ({
    id: `get${name}`,
    summary: `Read one ${name}`,
    answer: describeDocument(documentRef(kind)),
  }),
  answer: describeDocument(AnyDocument),
  query: getParameters,
  problems: [400, 403, 404],
});

function written<A extends TSchema>(
  schema: A,
  description: string,
  more: Partial<OperationAnswer<TSchema>> = {},
): OperationAnswer<A> {
  return { description, headers: { ...REVISION_HEADER, ...OUTCOME_HEADER }, ...more, schema };
}

/** Returns the answer of a write of one kind: only a dry run of a HostnameGenerator has more fields than `Written`. */
function writtenKind<A extends TSchema>({ name }: Kind, answer: OperationAnswer<A>): OperationAnswer<TSchema> {
  return name === 'HostnameGenerator' ? answer : { ...answer, schema: Written };
}

function writeDescription({ sync, writer }: Kind): string {
  const alone = sync.standalone ? ', or a zone without a global' : '';
  return `Written on: ${sync.writtenOn.join(', ')}${alone}. The least built-in role that may: ${ROLES[writer]}.`;
}

const WRITE = { ...ONE, access: 'any-right', kinds: ANY_KIND, headers: IF_MATCH, problems: WRITE_PROBLEMS } as const;

const REPLACED = written(WrittenGenerator, 'It was there; it is now as sent.', { statuses: { 201: 'It was made.' } });
const PATCHED = written(WrittenGenerator, 'It was changed.');

/** Status 201 if it created the resource, else 200; `{}` or `{warnings}`, and after a dry run of a HostnameGenerator its names. */
export const putResource = kindOperation({
  ...WRITE,
  method: 'PUT',
  of: ({ kind, name }) => ({
    id: `put${name}`,
    summary: `Create or replace ${withArticle(name)}`,
    description: writeDescription(kind),
    body: documentBody(kind),
    answer: writtenKind(kind, REPLACED),
  }),
  answer: REPLACED,
  query: writeParameters,
});

/** RFC 7386 on the Universal form; status 200. */
export const patchResource = kindOperation({
  ...WRITE,
  method: 'PATCH',
  of: ({ kind, name }) => ({
    id: `patch${name}`,
    summary: `Change parts of ${withArticle(name)} (RFC 7386)`,
    description: writeDescription(kind),
    body: {
      schema: AnyObject,
      example: { labels: { team: 'db' } },
      types: ['application/merge-patch+json', 'application/json', 'application/yaml'],
    },
    answer: writtenKind(kind, PATCHED),
  }),
  answer: PATCHED,
  query: writeParameters,
});

/** Status 200 with `{}` or `{warnings}`; 409 for a Mesh with members, even if it is terminating from now on. */
export const deleteResource = kindOperation({
  ...WRITE,
  method: 'DELETE',
  grpc: 'ResourceService.Delete',
  of: ({ kind, name }) => ({
    id: `delete${name}`,
    summary: `Delete ${withArticle(name)}`,
    description: writeDescription(kind),
  }),
  answer: written(Written, 'It is gone.', { headers: REVISION_HEADER }),
  query: deleteParameters,
});
