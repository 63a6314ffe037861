import { Config, Dataplane, DataplaneInsight, Mesh, Secret } from '@causeway/proto-gen';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import type { KumaTranslation } from './translation';
import { mapValues } from './selectors';
import { protoSpec } from './proto-spec';

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
