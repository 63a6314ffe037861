import { ZoneIngress } from '@causeway/proto-gen';
import { isJsonArray, isJsonObject, Label, type JsonValue } from '@causeway/resources';
import type { KumaTranslation } from './translation';
import { protoSpec } from './proto-spec';

/**
 * Where a Kuma zone is reached from others. A zone leaves its own name out and the global fills it in: a Kuma zone takes
 * an ingress that names no zone for its own, and would not route to the one that it belongs to (kds.md §4.4).
 */
export const zoneIngressTranslation: KumaTranslation = {
  proto: protoSpec('kuma.mesh.v1alpha1.ZoneIngress', ZoneIngress),
  withOriginZone: (spec, zone) => {
    const { availableServices: services } = spec;
    const named = { ...spec, zone };
    return isJsonArray(services)
      ? { ...named, availableServices: services.map((service) => taggedWith(service, zone)) }
      : named;
  },
};

/** A service that says of which zone it is says the one it came from. */
function taggedWith(service: JsonValue, zone: string): JsonValue {
  if (!isJsonObject(service) || !isJsonObject(service['tags']) || service['tags'][Label.zone] === undefined) {
    return service;
  }
  return { ...service, tags: { ...service['tags'], [Label.zone]: zone } };
}
