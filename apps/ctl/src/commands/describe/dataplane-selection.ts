import { selectedDataplanes } from '@causeway/dataplanes';
import type { JsonObject } from '@causeway/resources';
import { requireKind, type CommandContext } from '../../context';
import { toResource, toSelection } from '../../refs';
import { textAt } from '../../render';

/** Returns the documents of the Dataplanes that a MeshService selects, by the control plane's rule. */
export async function selectedBy(context: CommandContext, service: JsonObject): Promise<readonly JsonObject[]> {
  const { services, dataplanes } = findKinds(context);
  const one = toResource(services, service);
  const { documents } = await (await context.api()).list(toSelection(dataplanes, one.id));
  return documents.filter((each) => isAny(selectedDataplanes(one, [toResource(dataplanes, each)])));
}

/** Returns the names of the MeshServices that select a Dataplane, by the control plane's rule. */
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
