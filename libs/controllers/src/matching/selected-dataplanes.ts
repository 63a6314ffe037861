import { Dataplane, MeshService } from '@causeway/kinds';
import type { Resource } from '@causeway/resources';
import { dataplaneValues, selectorOf, type DataplaneResource, type DataplaneSelector } from './dataplane-match';

/** Those of `dataplanes` that serve `service`, by the rule that its `dataplaneProxies` are counted by. */
export function selectedDataplanes(service: Resource, dataplanes: Iterable<Resource>): Resource[] {
  const selector = MeshService.is(service) ? selectorOf(service) : undefined;
  const found: Resource[] = [];
  if (!selector) return found;
  for (const one of dataplanes) if (Dataplane.is(one) && selects(selector, one)) found.push(one);
  return found;
}

function selects({ terms, matches }: DataplaneSelector, one: DataplaneResource): boolean {
  return terms.every(({ attribute, value }) => dataplaneValues(one, attribute).includes(value)) && matches(one);
}
