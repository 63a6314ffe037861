import { DataplaneInsight } from '@causeway/proto-gen';
import { isJsonArray, type JsonObject, isJsonObject, type JsonValue } from '@causeway/resources';
import { protoSpec, type KumaTranslation } from './translation';

/** Translates an insight; the generation of a subscription is local to the zone, so it is not sent (docs/reference/kds-wire.md §4.3). */
export const dataplaneInsightTranslation: KumaTranslation = {
  proto: protoSpec('kuma.mesh.v1alpha1.DataplaneInsight', DataplaneInsight),
  toKumaSpec: withoutGenerations,
};

/** Translates insights of zone proxies: insights of Dataplanes with subscriptions only, field 1 of their message. */
export function zoneProxyInsightTranslation(name: 'ZoneIngressInsight' | 'ZoneEgressInsight'): KumaTranslation {
  return {
    proto: protoSpec(`kuma.mesh.v1alpha1.${name}`, {
      ...DataplaneInsight,
      toJSON: (message: DataplaneInsight) =>
        DataplaneInsight.toJSON({ ...message, mTls: undefined, metadata: undefined }),
    }),
    toKumaSpec: ({ subscriptions }) => withoutGenerations(subscriptions === undefined ? {} : { subscriptions }),
  };
}

function withoutGenerations(spec: JsonObject): JsonObject {
  const { subscriptions } = spec;
  if (!isJsonArray(subscriptions)) return spec;
  const sent = subscriptions.map((one): JsonValue => {
    if (!isJsonObject(one)) return one;
    const { generation: _, ...rest } = one;
    return rest satisfies JsonObject;
  });
  return { ...spec, subscriptions: sent };
}
