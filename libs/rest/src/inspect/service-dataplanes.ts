import { Dataplane, MeshService } from '@causeway/kinds';
import { compareText, labelsMatch, type Labels, type Resource, type SpecOf } from '@causeway/resources';
import type { ResourceIndex } from '@causeway/store';

type Selector = NonNullable<SpecOf<typeof MeshService>['selector']>;
type DataplaneResource = Resource<SpecOf<typeof Dataplane>>;

/** The Dataplanes that serve a MeshService: those of its mesh and zone that its selector takes, by name. */
export function dataplanesOf(index: ResourceIndex, service: Resource): Resource[] {
  if (!MeshService.is(service)) return [];
  const { selector = {} } = service.spec;
  const { mesh, zone } = service.id;
  const found: Resource[] = [];
  for (const dataplane of index.ofKind(Dataplane.name)) {
    if (dataplane.id.mesh !== mesh || dataplane.id.zone !== zone) continue;
    if (Dataplane.is(dataplane) && selects(selector, dataplane)) found.push(dataplane);
  }
  return found.sort((a, b) => compareText(a.id.name, b.id.name) || compareText(a.id.namespace, b.id.namespace));
}

/** All tags must stand on one inbound; no tags select nothing, no labels everything (kuma-2.14.md §1). */
function selects(selector: Selector, dataplane: DataplaneResource): boolean {
  const { dataplaneTags, dataplaneLabels, dataplaneRef } = selector;
  const inbounds = dataplane.spec.networking.inbound ?? [];
  if (dataplaneRef) return dataplaneRef.name === dataplane.id.name;
  if (dataplaneLabels) return labelsMatch(dataplaneLabels.matchLabels ?? {}, dataplane.labels);
  if (!dataplaneTags || Object.keys(dataplaneTags).length === 0) return false;
  return inbounds.some((inbound) => labelsMatch(dataplaneTags, tagsOf(inbound)));
}

function tagsOf(inbound: { readonly tags?: Labels }): Labels {
  return inbound.tags ?? {};
}
