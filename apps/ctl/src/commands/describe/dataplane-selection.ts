import { selectedDataplanes } from '@causeway/dataplanes';
import type { JsonObject } from '@causeway/resources';
import { requireKind, type CommandContext } from '../../context';
import { toResource, toSelection } from '../../refs';
import { textAt } from '../../render';

/** The documents of the Dataplanes that a MeshService selects, by the rule of the control plane. */
export async function selectedBy(context: CommandContext, service: JsonObject): Promise<readonly JsonObject[]> {
  const { services, dataplanes } = findKinds(context);
  const one = toResource(services, service);
  const { documents } = await (await context.api()).list(toSelection(dataplanes, one.id));
  return documents.filter((each) => isAny(selectedDataplanes(one, [toResource(dataplanes, each)])));
}

/** The names of the MeshServices that select a Dataplane, by the rule of the control plane. */
export async function servedServices(context: CommandContext, dataplane: JsonObject): Promise<readonly string[]> {
  const { services, dataplanes } = findKinds(context);
  const one = toResource(dataplanes, dataplane);
  const { documents } = await (await context.api()).list(toSelection(services, one.id));
  return documents
    .filter((each) => isAny(selectedDataplanes(toResource(services, each), [one])))
    .map((each) => textAt(each, 'name'));
}

function findKinds({
  registry,
}: CommandContext): Readonly<Record<'services' | 'dataplanes', ReturnType<typeof requireKind>>> {
  return { services: requireKind(registry, 'MeshService'), dataplanes: requireKind(registry, 'Dataplane') };
}

function isAny(found: Iterable<unknown>): boolean {
  return [...found].some((each) => each !== undefined);
}
