import { Type, type TSchema } from 'typebox';
import { kindOperation } from '../operation';
import { addressParameters, Freshness, overviewParameters } from '../parameters';
import { component, Integer, Page, Text, TextMap } from '../schema';
import { ZoneOverview } from '../schemas/zone-insight';

/** A resource together with its insight, under `<kind>Insight`. */
const Overview = Type.Object(
  {
    type: Text,
    mesh: Type.Optional(Text),
    namespace: Type.Optional(Text),
    name: Text,
    labels: Type.Optional(TextMap),
    uid: Type.Optional(Text),
    generation: Type.Optional(Integer),
    kri: Type.Optional(Text),
  },
  component('Overview', { description: 'A resource and, under `<kind>Insight`, what is known of it beside the log.' }),
);

const PROBLEMS = [400, 404];

function listOverviews<const P extends string, I extends TSchema>(
  path: P,
  alias: string,
  { kind: wanted, suffix = '', item }: { readonly kind: string; readonly suffix?: string; readonly item: I },
) {
  return kindOperation({
    method: 'GET',
    path,
    aliases: [alias],
    access: { verb: 'list', kinds: [wanted] },
    kinds: ({ name }) => name === wanted,
    of: ({ kind }) => ({
      id: `list${kind.name}Overview${suffix}`,
      summary: `All ${kind.name}s with what is known beside the log`,
    }),
    answer: { description: 'The answer.', schema: Page(item) },
    query: overviewParameters,
    problems: PROBLEMS,
  });
}

function getOverview<const P extends string, A extends TSchema>(
  path: P,
  alias: string,
  { kind: wanted, schema }: { readonly kind: string; readonly schema: A },
) {
  return kindOperation({
    method: 'GET',
    path,
    aliases: [alias],
    access: 'any-right',
    kinds: ({ name }) => name === wanted,
    of: ({ kind }) => ({
      id: `get${kind.name}Overview`,
      summary: `One ${kind.name} with what is known beside the log`,
    }),
    answer: { description: 'The answer.', schema },
    query: (kind) => ({ ...addressParameters(kind), ...Freshness }),
    problems: PROBLEMS,
  });
}

/** Zones with the state of their sync. */
export const listZoneOverviews = listOverviews('/zones+insights', '/zones/_overview', {
  kind: 'Zone',
  item: ZoneOverview,
});
export const getZoneOverview = getOverview('/zones+insights/{name}', '/zones/{name}/_overview', {
  kind: 'Zone',
  schema: ZoneOverview,
});
/** Dataplanes of all meshes with the state of their proxies. */
export const listAllDataplaneOverviews = listOverviews('/dataplanes+insights', '/dataplanes/_overview', {
  kind: 'Dataplane',
  suffix: 'OfAllMeshes',
  item: Overview,
});
export const listDataplaneOverviews = listOverviews(
  '/meshes/{mesh}/dataplanes+insights',
  '/meshes/{mesh}/dataplanes/_overview',
  { kind: 'Dataplane', item: Overview },
);
export const getDataplaneOverview = getOverview(
  '/meshes/{mesh}/dataplanes+insights/{name}',
  '/meshes/{mesh}/dataplanes/{name}/_overview',
  { kind: 'Dataplane', schema: Overview },
);
