import { Dataplane, MeshService } from '@causeway/kinds';
import type { Resource } from '@causeway/resources';
import { dataplaneValues, selectorOf, type DataplaneResource, type DataplaneSelector } from './dataplane-selector';

/** Those of `dataplanes` that serve `service`, by the rule that its `dataplaneProxies` are counted by. */
export function* selectedDataplanes(
  service: Resource,
  dataplanes: Iterable<Resource>,
): Generator<Resource | undefined> {
  const selector = MeshService.is(service) ? selectorOf(service) : undefined;
  if (!selector) return;
  for (const one of dataplanes) yield Dataplane.is(one) && selects(selector, one) ? one : undefined;
}

function selects({ terms, matches }: DataplaneSelector, one: DataplaneResource): boolean {
  return terms.every(({ attribute, value }) => dataplaneValues(one, attribute).includes(value)) && matches(one);
}
