import { Config, Dataplane, Mesh, Secret, ZoneEgress, ZoneIngress } from '@causeway/proto-gen';
import { isJsonArray, isJsonObject, Label, type JsonObject, type JsonValue } from '@causeway/resources';
import { mapValues, PROTO_KEY, protoSpec, type KumaTranslation } from './translation';

/** Translates a Mesh. Here it needs no `meshServices`; a Kuma zone does (docs/design.md §5). */
export const meshTranslation: KumaTranslation = {
  proto: protoSpec('kuma.mesh.v1alpha1.Mesh', Mesh),
  toKumaSpec: (spec, { meshServicesMode: mode }) =>
    spec['meshServices'] !== undefined || mode === 'Disabled' ? spec : { ...spec, meshServices: { mode } },
};

/** Translates a Dataplane. `health` without `ready` means "not ready" in Kuma's message; here `ready: false` is explicit. */
export const dataplaneTranslation: KumaTranslation = {
  proto: protoSpec('kuma.mesh.v1alpha1.Dataplane', {
    ...Dataplane,
    toJSON: (message) => withReadiness(Dataplane.toJSON(message)),
  }),
};

export const configTranslation: KumaTranslation = {
  proto: protoSpec('kuma.system.v1alpha1.Config', Config, { hasMaps: false }),
};

/** Translates a Secret or GlobalSecret: `data` is base64 (docs/reference/kds-wire.md Appendix B.4). */
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
 * Translates a ZoneIngress: the address at which other zones reach a Kuma zone. A zone omits its own name and the global sets it: a Kuma zone takes
 * an ingress without a zone for its own, and would not route to the zone of origin (docs/reference/kds-wire.md §4.4).
 */
export const zoneIngressTranslation: KumaTranslation = {
  proto: protoSpec('kuma.mesh.v1alpha1.ZoneIngress', ZoneIngress),
  withOriginZone: (spec, zone) => {
    const { availableServices: services } = spec;
    const named = withZone(spec, zone);
    return isJsonArray(services)
      ? { ...named, availableServices: services.map((service) => taggedWith(service, zone)) }
      : named;
  },
};

/** Translates a ZoneEgress: like a ZoneIngress, a Kuma zone takes one without a zone for its own. */
export const zoneEgressTranslation: KumaTranslation = {
  proto: protoSpec('kuma.mesh.v1alpha1.ZoneEgress', ZoneEgress),
  withOriginZone: withZone,
};

function withZone(spec: JsonObject, zone: string): JsonObject {
  const { [PROTO_KEY]: kept } = spec;
  return { ...spec, ...(typeof kept === 'string' && { [PROTO_KEY]: withZoneField(kept, zone) }), zone };
}

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

/** Appends the zone to the original bytes: of a field that occurs twice protobuf takes the last. It is the first field of both messages. */
function withZoneField(kept: string, zone: string): string {
  return Buffer.concat([
    Buffer.from(kept, 'base64'),
    ZoneIngress.encode(ZoneIngress.fromJSON({ zone })).finish(),
  ]).toString('base64');
}

/** Sets the zone tag of a service that has one. */
function taggedWith(service: JsonValue, zone: string): JsonValue {
  if (!isJsonObject(service) || !isJsonObject(service['tags']) || service['tags'][Label.zone] === undefined) {
    return service;
  }
  return { ...service, tags: { ...service['tags'], [Label.zone]: zone } };
}
