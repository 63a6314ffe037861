import { Type } from 'typebox';
import type { Kind } from '@causeway/resources';

/** Number of items in a page: the default and the maximum (docs/reference/kuma-rest.md §1.3). */
export const PAGE_SIZE = { default: 100, maximum: 1_000 } as const;

const { MAX_SAFE_INTEGER } = Number;

/** Returns the schema of an optional text parameter of at most `maxLength` characters. */
export function TextParameter(description: string, maxLength = 253) {
  return Type.Optional(Type.String({ description, maxLength }));
}

/** Returns the schema of an optional flag, false by default. */
export function FlagParameter(description: string) {
  return Type.Optional(Type.Boolean({ description, default: false }));
}

/** Returns the schema of an optional text parameter for which the empty text counts as absent. */
export function NamedParameter(description: string, maxLength = 253) {
  return Type.Optional(Type.String({ description, minLength: 1, maxLength }));
}

/** Returns the schema of an optional parameter with a fixed set of words. */
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

/** Page parameters of a list without a cursor. */
export const OffsetPage = { size: Size, offset: Offset };
/** Page parameters of a list without an offset. */
export const CursorPage = { size: Size, cursor: Cursor };
/** Page parameters of a list with both. */
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

/** The parameter that selects the zone from whose point of view a hostname or route is evaluated. */
export const ZoneOfView = { zone: TextParameter('The zone whose view is asked for; required on the global.') };

/** The parameter of every write. */
export const DryRun = { dryRun: FlagParameter('Check everything and write nothing.') };

type OptionalText = ReturnType<typeof TextParameter>;

/** Parameters that identify a resource; each exists for some kinds. */
type AddressParameters = { readonly namespace?: OptionalText; readonly zone?: OptionalText };

/** Returns the parameters that identify a resource if several zones or namespaces have its name (docs/design.md §1). */
export function addressParameters(kind: Kind): AddressParameters {
  const namespace = TextParameter('The namespace of the resource; "default" when left out.', 63);
  const zone = TextParameter(
    'The zone where the resource was made; empty means the global. Left out: made on this control plane.',
  );
  return { ...(kind.namespaced ? { namespace } : {}), ...(kind.sync.zoneInIdentity ? { zone } : {}) };
}

/** Returns the parameters that filter a list or a watch of `kind`. */
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

/** Returns the parameters of a list of `kind`. */
export function listParameters(kind: Kind) {
  return { ...selectionParameters(kind), ...EitherPage, ...Format, ...Freshness, ...Watch };
}

/** Returns the parameters of a list of overviews of `kind`. */
export function overviewParameters(kind: Kind) {
  return { ...selectionParameters(kind), ...EitherPage, ...Freshness };
}

/** Returns the parameters of a GET of one resource of `kind`. */
export function getParameters(kind: Kind) {
  return { ...addressParameters(kind), ...Format, ...Freshness };
}

/** Returns the parameters of PUT and PATCH. */
export function writeParameters(kind: Kind) {
  const seenFrom = TextParameter(
    'With dryRun: the zone in which to look at what the write would lead to; needed on the global.',
  );
  return { ...addressParameters(kind), ...DryRun, seenFrom };
}

/** Returns the parameters of a DELETE. */
export function deleteParameters(kind: Kind) {
  const terminate = FlagParameter(
    'The Mesh takes no new members from now on, also where it has members and stays: it gets the label causeway.io/terminating.',
  );
  const ofMesh: { readonly terminate?: typeof terminate } = kind.name === 'Mesh' ? { terminate } : {};
  const force = FlagParameter(
    'The Zone is deleted also while it is Online: its names go from all other zones, connections there are cut, and it comes back while its token is valid.',
  );
  const ofZone: { readonly force?: typeof force } = kind.name === 'Zone' ? { force } : {};
  return { ...writeParameters(kind), ...ofMesh, ...ofZone };
}
