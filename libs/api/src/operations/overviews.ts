import { Type, type TProperties, type TSchema } from 'typebox';
import type { Kind } from '@causeway/resources';
import type { KindOperation, CalledKind, OperationAccess } from '../operation';
import { addressParameters, Freshness, overviewParameters } from '../parameters';
import { component, Integer, Page, Text, TextMap } from '../schema';
import { ZoneOverview } from '../schemas/zone-insight';

/** A resource and, under `<kind>Insight`, what is known of it beside the log. */
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

const overviewSchema = ({ name }: Kind): TSchema => (name === 'Zone' ? ZoneOverview : Overview);
const PROBLEMS = [400, 404];

function listOverviews(
  path: string,
  aliases: readonly string[],
  { kind: wanted, suffix }: { readonly kind: string; readonly suffix: string },
): KindOperation {
  const access: OperationAccess = { verb: 'list', kinds: [wanted] };
  return {
    method: 'GET',
    path,
    aliases,
    access,
    kinds: ({ name }) => name === wanted,
    of: ({ kind }: CalledKind) => ({
      id: `list${kind.name}Overview${suffix}`,
      summary: `All ${kind.name}s with what is known beside the log`,
      answer: { description: 'The answer.', schema: Page(overviewSchema(kind)) },
    }),
    query: overviewParameters,
    problems: PROBLEMS,
  };
}

function getOverview(path: string, alias: string, wanted: string): KindOperation {
  return {
    method: 'GET',
    path,
    aliases: [alias],
    access: 'any-right',
    kinds: ({ name }) => name === wanted,
    of: ({ kind }: CalledKind) => ({
      id: `get${kind.name}Overview`,
      summary: `One ${kind.name} with what is known beside the log`,
      answer: { description: 'The answer.', schema: overviewSchema(kind) },
    }),
    query: (kind: Kind): TProperties => ({ ...addressParameters(kind), ...Freshness }),
    problems: PROBLEMS,
  };
}

/** Zones with what is known of their sync. */
export const listZoneOverviews = listOverviews('/zones+insights', ['/zones/_overview'], { kind: 'Zone', suffix: '' });
export const getZoneOverview = getOverview('/zones+insights/{name}', '/zones/{name}/_overview', 'Zone');
/** Dataplanes with what is known of their proxies, of all meshes. */
export const listAllDataplaneOverviews = listOverviews('/dataplanes+insights', ['/dataplanes/_overview'], {
  kind: 'Dataplane',
  suffix: 'OfAllMeshes',
});
export const listDataplaneOverviews = listOverviews(
  '/meshes/{mesh}/dataplanes+insights',
  ['/meshes/{mesh}/dataplanes/_overview'],
  { kind: 'Dataplane', suffix: '' },
);
export const getDataplaneOverview = getOverview(
  '/meshes/{mesh}/dataplanes+insights/{name}',
  '/meshes/{mesh}/dataplanes/{name}/_overview',
  'Dataplane',
);
