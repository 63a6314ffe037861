import { Config, Dataplane, DataplaneInsight, Mesh, Secret, ZoneIngress } from '@causeway/proto-gen';
import { isJsonArray, isJsonObject, Label, type JsonObject, type JsonValue } from '@causeway/resources';
import { mapValues, protoSpec, type KumaTranslation } from './translation';

/** A Mesh of ours says nothing about MeshServices; a Kuma zone must be told (design.md §5). */
export const meshTranslation: KumaTranslation = {
  proto: protoSpec('kuma.mesh.v1alpha1.Mesh', Mesh),
  toKumaSpec: (spec, { meshServicesMode: mode }) =>
    spec['meshServices'] !== undefined || mode === 'Disabled' ? spec : { ...spec, meshServices: { mode } },
};

/** `health` without `ready` is "not ready" in Kuma's message: said in full in ours. */
export const dataplaneTranslation: KumaTranslation = {
  proto: protoSpec('kuma.mesh.v1alpha1.Dataplane', {
    ...Dataplane,
    toJSON: (message) => withReadiness(Dataplane.toJSON(message)),
  }),
};

/** The generation of a subscription belongs to the zone: zero on the wire (kds.md §4.3). */
export const dataplaneInsightTranslation: KumaTranslation = {
  proto: protoSpec('kuma.mesh.v1alpha1.DataplaneInsight', DataplaneInsight),
  toKumaSpec: (spec) => mapValues(spec, (value) => (isJsonArray(value) ? value.map(withoutGeneration) : value)),
};

export const configTranslation: KumaTranslation = {
  proto: protoSpec('kuma.system.v1alpha1.Config', Config, { hasMaps: false }),
};

/** Secret and GlobalSecret: `data` in base64 (kds.md Appendix B.4). */
export const secretTranslation: KumaTranslation = {
  proto: protoSpec(
    'kuma.system.v1alpha1.Secret',
    {
      encode: (message: Secret) => Secret.encode(message),
      decode: (bytes) => Secret.decode(bytes),
      fromJSON: (spec) => ({
        data: isJsonObject(spec) && typeof spec['data'] === 'string' ? Buffer.from(spec['data'], 'base64') : undefined,
      }),
      toJSON: (message) => (message.data === undefined ? {} : { data: message.data.toString('base64') }),
    },
    { hasMaps: false },
  ),
};

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

function withReadiness(spec: unknown): unknown {
  if (!isJsonObject(spec) || !isJsonObject(spec['networking'])) return spec;
  const networking = mapValues(spec['networking'], (value) => (isJsonArray(value) ? value.map(withReady) : value));
  return { ...spec, networking };
}

function withReady(inbound: JsonValue): JsonValue {
  return isJsonObject(inbound) && isJsonObject(inbound['health'])
    ? { ...inbound, health: { ready: false, ...inbound['health'] } }
    : inbound;
}

function withoutGeneration(subscription: JsonValue): JsonValue {
  if (!isJsonObject(subscription)) return subscription;
  const { generation: _, ...rest } = subscription;
  return rest satisfies JsonObject;
}

/** A service that says of which zone it is says the one it came from. */
function taggedWith(service: JsonValue, zone: string): JsonValue {
  if (!isJsonObject(service) || !isJsonObject(service['tags']) || service['tags'][Label.zone] === undefined) {
    return service;
  }
  return { ...service, tags: { ...service['tags'], [Label.zone]: zone } };
}
