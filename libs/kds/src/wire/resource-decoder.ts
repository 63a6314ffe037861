import { KumaResource, type DiscoveryResource, type ResourceMeta } from '@causeway/proto-gen';
import { parseTraceparent, shortened } from '@causeway/resources';
import { checkBytes, readFields, MAX_META_FIELDS } from './bounds';
import type { Dialect } from './dialect';
import { refuseReservedKey } from './reserved-keys';
import { decodeSpec, decodeStatus } from './payload';
import { KUMA_RESOURCE_URL } from './resource-encoder';
import { parseWireKey, type WireFault, type WireMeta, type WireResource } from './wire-resource';

/** Maximum length of a reason, characters; a reason may quote the payload. */
const MAX_REASON_LENGTH = 500;

/** A decoded resource, or the reason why it could not be decoded. `version` is the sender's. */
export type DecodedResource =
  | { readonly ok: true; readonly version: string; readonly resource: WireResource }
  | { readonly ok: false; readonly version: string; readonly fault: WireFault };

/** Numbers of the fields that are checked before decoding (docs/reference/kds-wire.md Appendix A). */
const META_FIELD = 1;
const LABELS_FIELD = 6;

/**
 * Decodes one resource. For a resource that is malformed or larger than `most` bytes it returns a fault; it never throws.
 */
export function decodeResource(
  kind: string,
  outer: DiscoveryResource,
  dialect: Dialect,
  most: number,
): DecodedResource {
  const { version } = outer;
  let key = parseWireKey(outer.name);
  try {
    const inner = kumaResource(outer, most);
    const wire = envelope(kind, inner, dialect);
    key = wire;
    const status = decodeStatus(wire, inner.status, dialect);
    const spec = decodeSpec(kind, inner.spec, dialect);
    return { ok: true, version, resource: { ...wire, spec, ...(status === undefined ? {} : { status }) } };
  } catch (error) {
    const reason = shortened(error instanceof Error ? error.message : String(error), MAX_REASON_LENGTH);
    return { ok: false, version, fault: { kind, name: key.name, mesh: key.mesh, reason } };
  }
}

function kumaResource({ resource }: DiscoveryResource, most: number): KumaResource {
  if (resource === undefined) throw new TypeError('resource is missing');
  if (resource.typeUrl !== KUMA_RESOURCE_URL)
    throw new TypeError(`resource must be ${KUMA_RESOURCE_URL}; got ${resource.typeUrl}`);
  checkBytes('the resource', resource.value.length, most);
  for (const field of readFields('the resource', resource.value, MAX_META_FIELDS)) {
    if (field.number === META_FIELD) checkEnvelope(field.content);
  }
  return KumaResource.decode(resource.value);
}

function checkEnvelope(meta: Uint8Array): void {
  for (const { number, content } of readFields('the envelope', meta, MAX_META_FIELDS)) {
    if (number === LABELS_FIELD) refuseReservedKey('a label', content);
  }
}

function envelope(kind: string, { meta }: KumaResource, dialect: Dialect): Omit<WireResource, 'spec' | 'status'> {
  if (meta === undefined || meta.name === '') throw new TypeError('name is missing');
  const { name, mesh, labels, causeway } = meta;
  const wire = { kind, name, mesh, labels };
  return dialect.meta && causeway !== undefined ? { ...wire, meta: decodeMeta(causeway) } : wire;
}

function decodeMeta(message: ResourceMeta): WireMeta {
  const { uid, zone, namespace, generation, creationOrder, origin } = message;
  if (origin === undefined) throw new TypeError('origin revision is missing');
  const { incarnation, revision, committedAt, traceparent } = origin;
  const trace = parseTraceparent(traceparent)?.isSampled === true ? { traceparent } : {};
  return { uid, zone, namespace, generation, creationOrder, origin: { incarnation, revision, committedAt, ...trace } };
}
