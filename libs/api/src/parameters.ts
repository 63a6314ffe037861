import { Type } from 'typebox';
import type { Kind } from '@causeway/resources';

/** Items of a page: how many when the request does not say, and at most (docs/reference/kuma-rest.md §1.3). */
export const PAGE_SIZE = { default: 100, maximum: 1_000 } as const;

const { MAX_SAFE_INTEGER } = Number;

/** An optional text parameter of at most `maxLength` characters. */
export function TextParameter(description: string, maxLength = 253) {
  return Type.Optional(Type.String({ description, maxLength }));
}

/** An optional flag, false where it is absent. */
export function FlagParameter(description: string) {
  return Type.Optional(Type.Boolean({ description, default: false }));
}

/** An optional text parameter where the empty text is as good as none. */
export function NamedParameter(description: string, maxLength = 253) {
  return Type.Optional(Type.String({ description, minLength: 1, maxLength }));
}

/** An optional parameter that is one of some words. */
export function WordParameter<const W extends string[]>(words: [...W], description: string, more: object = {}) {
  return Type.Optional(Type.Enum(words, { type: 'string', description, ...more }));
}

const Size = Type.Optional(Type.Integer({ description: 'Items on a page.', minimum: 1, ...PAGE_SIZE }));
const Offset = Type.Optional(Type.Integer({ description: 'Items to skip.', minimum: 0 }));
const Cursor = Type.Optional(
  Type.String({
    description:
      'Where the page begins, from `next` of the page before; empty begins. Unlike `offset` it stays right while resources come and go.',
    maxLength: 2048,
    pattern: '^[A-Za-z0-9_-]*$',
  }),
);

/** Parameters of a page of a list that has no cursor. */
export const OffsetPage = { size: Size, offset: Offset };
/** Parameters of a page of a list that has no offset. */
export const CursorPage = { size: Size, cursor: Cursor };
/** Parameters of a page. */
const EitherPage = { size: Size, offset: Offset, cursor: Cursor };

/** The parameter of every read. */
export const Freshness = {
  minRevision: Type.Optional(
    Type.Integer({
      description: 'Wait until this replica has seen this revision (the header Causeway-Revision of a write).',
      minimum: 0,
      maximum: MAX_SAFE_INTEGER,
    }),
  ),
};

/** The form of the documents that reads return. */
export const Format = {
  format: WordParameter(['universal', 'k8s', 'kubernetes'], 'The form of the document.', { default: 'universal' }),
};

/** The parameter that says whose view of a hostname or a route is asked for. */
export const ZoneOfView = { zone: TextParameter('The zone whose view is asked for; required on the global.') };

/** Of every write. */
export const DryRun = { dryRun: FlagParameter('Check everything and write nothing.') };

type OptionalText = ReturnType<typeof TextParameter>;

/** Parameters of a kind's address; each is there for some kinds. */
type AddressParameters = { readonly namespace?: OptionalText; readonly zone?: OptionalText };

/** Parameters that say which resource a name means when several zones or namespaces have it (docs/design.md §1). */
export function addressParameters(kind: Kind): AddressParameters {
  const namespace = TextParameter('The namespace of the resource; "default" when left out.', 63);
  const zone = TextParameter(
    'The zone where the resource was made; empty means the global. Left out: made on this control plane.',
  );
  return { ...(kind.namespaced ? { namespace } : {}), ...(kind.sync.zoneInIdentity ? { zone } : {}) };
}

/** Parameters that narrow a list or a watch of `kind`. */
function selectionParameters(kind: Kind) {
  const namespace = TextParameter('Only resources of this namespace.');
  const ofKind: Pick<AddressParameters, 'namespace'> = kind.namespaced ? { namespace } : {};
  return {
    name: TextParameter('Only resources whose name contains this text.'),
    ...ofKind,
    zone: TextParameter('Only resources made in this zone; empty means those made on the global.'),
    filter: Type.Optional(
      Type.Unsafe<Readonly<Record<string, string>>>({
        type: 'object',
        description:
          'filter[labels.KEY]=value: only resources whose label KEY has exactly this value; for several keys at once.',
        patternProperties: { '^labels\\..': { type: 'string', maxLength: 63 } },
        additionalProperties: false,
      }),
    ),
    labelSelector: TextParameter(
      "Only resources whose labels match, in Kubernetes' syntax: a=b, a!=b, a in (b, c), a notin (b), a, !a.",
      2048,
    ),
  };
}

const Watch = {
  watch: FlagParameter('Answer with server-sent events instead of a list, and go on.'),
  since: Type.Optional(
    Type.String({
      description: 'With watch: only what changed after this revision; without it everything comes first.',
      maxLength: 64,
      pattern: '^([A-Za-z0-9-]+\\.)?[0-9]{1,16}$',
    }),
  ),
};

/** Parameters of a list of `kind`. */
export function listParameters(kind: Kind) {
  return { ...selectionParameters(kind), ...EitherPage, ...Format, ...Freshness, ...Watch };
}

/** Parameters of a list of overviews of `kind`. */
export function overviewParameters(kind: Kind) {
  return { ...selectionParameters(kind), ...EitherPage, ...Freshness };
}

/** Parameters of a GET of one resource of `kind`. */
export function getParameters(kind: Kind) {
  return { ...addressParameters(kind), ...Format, ...Freshness };
}

/** Parameters of PUT and PATCH. */
export function writeParameters(kind: Kind) {
  const seenFrom = TextParameter(
    'With dryRun: the zone in which to look at what the write would lead to; needed on the global.',
  );
  return { ...addressParameters(kind), ...DryRun, seenFrom };
}

/** Parameters of a DELETE. */
export function deleteParameters(kind: Kind) {
  const terminate = FlagParameter(
    'The Mesh takes no new members from now on, also where it has members and stays: it gets the label causeway.io/terminating.',
  );
  const ofMesh: { readonly terminate?: typeof terminate } = kind.name === 'Mesh' ? { terminate } : {};
  return { ...writeParameters(kind), ...ofMesh };
}
