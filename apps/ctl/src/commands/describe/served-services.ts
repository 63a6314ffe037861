import { selectedDataplanes } from '@causeway/controllers';
import type { JsonObject, Resource } from '@causeway/resources';
import { listAll } from '../../api-client';
import { kindOf, pathOf, type CommandContext } from '../../context';
import { objectAt, textAt } from '../../render';
import { referenceOf } from './identity';

/** The MeshServices that select a Dataplane, by the rule of the control plane. */
export async function servedServices(context: CommandContext, body: JsonObject): Promise<readonly string[]> {
  const { mesh, zone, namespace } = referenceOf(body);
  const path = pathOf(kindOf(context.registry, 'MeshService'), mesh);
  const candidates = await listAll(context.api(), { path, query: { zone, namespace } });
  const one = resourceOf('Dataplane', body);
  return candidates
    .filter((each) => [...selectedDataplanes(resourceOf('MeshService', each), [one])].some((found) => found))
    .map((each) => textAt(each, 'name'));
}

/** A document as the rules of the engine read it; what they do not read is empty. */
function resourceOf(kind: string, body: JsonObject): Resource {
  const labels = objectAt(body, 'labels');
  const texts = Object.keys(labels).map((key): [string, string] => [
    key,
    textAt({ value: labels[key] ?? '' }, 'value'),
  ]);
  return {
    id: { kind, ...referenceOf(body) },
    labels: Object.fromEntries(texts),
    spec: objectAt(body, 'spec'),
    ...{ uid: '', generation: 0, creationOrder: 0, createdAt: 0, modifiedAt: 0, revision: 0, freed: [] },
    origin: { incarnation: '', revision: 0, committedAt: 0 },
  };
}
