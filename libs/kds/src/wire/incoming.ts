import { KumaResource, type DiscoveryResource, type ResourceMeta } from '@causeway/proto-gen';
import { shortened } from '@causeway/resources';
import { boundBytes, fieldsOf, MOST_META_FIELDS } from './bounds';
import type { Dialect } from './dialect';
import { refuseLostKey } from './lost-keys';
import { readPayload, readStatus } from './payload';
import { KUMA_RESOURCE_URL } from './resource-bytes';
import { parseWireKey, type WireFault, type WireMeta, type WireResource } from './wire-resource';

/** Longest reason: what is wrong with a payload may be as long as the payload. */
const LONGEST_REASON = 500;

/** A resource out of a response, or why it could not be read. `version` is the sender's. */
export type Received =
  | { readonly ok: true; readonly version: string; readonly resource: WireResource }
  | { readonly ok: false; readonly version: string; readonly fault: WireFault };

/** Numbers of the fields that are looked into undecoded (kds.md Appendix A). */
const META_FIELD = 1;
const LABELS_FIELD = 6;

/** Reads one resource; what is wrong with it, or more bytes than `most`, stays with it (design.md §5 One bad resource stops nothing). */
export function readResource(kind: string, outer: DiscoveryResource, dialect: Dialect, most: number): Received {
  const { version } = outer;
  let key = parseWireKey(outer.name);
  try {
    const inner = kumaResource(outer, most);
    const wire = envelope(kind, inner, dialect);
    key = wire;
    const status = readStatus(wire, inner.status, dialect);
    const spec = readPayload(kind, inner.spec, dialect);
    return { ok: true, version, resource: { ...wire, spec, ...(status === undefined ? {} : { status }) } };
  } catch (error) {
    const reason = shortened(error instanceof Error ? error.message : String(error), LONGEST_REASON);
    return { ok: false, version, fault: { kind, name: key.name, mesh: key.mesh, reason } };
  }
}

function kumaResource({ resource }: DiscoveryResource, most: number): KumaResource {
  if (resource === undefined) throw new TypeError('resource is missing');
  if (resource.typeUrl !== KUMA_RESOURCE_URL)
    throw new TypeError(`resource must be ${KUMA_RESOURCE_URL}; got ${resource.typeUrl}`);
  boundBytes('the resource', resource.value.length, most);
  for (const field of fieldsOf('the resource', resource.value, MOST_META_FIELDS)) {
    if (field.number === META_FIELD) checkEnvelope(field.content);
  }
  return KumaResource.decode(resource.value);
}

function checkEnvelope(meta: Uint8Array): void {
  for (const { number, content } of fieldsOf('the envelope', meta, MOST_META_FIELDS)) {
    if (number === LABELS_FIELD) refuseLostKey('a label', content);
  }
}

function envelope(kind: string, { meta }: KumaResource, dialect: Dialect): Omit<WireResource, 'spec' | 'status'> {
  if (meta === undefined || meta.name === '') throw new TypeError('name is missing');
  const { name, mesh, labels, causeway } = meta;
  const wire = { kind, name, mesh, labels };
  return dialect.meta && causeway !== undefined ? { ...wire, meta: readMeta(causeway) } : wire;
}

function readMeta(message: ResourceMeta): WireMeta {
  const { uid, zone, namespace, generation, creationOrder, origin } = message;
  if (origin === undefined) throw new TypeError('origin revision is missing');
  const { incarnation, revision, committedAt } = origin;
  return { uid, zone, namespace, generation, creationOrder, origin: { incarnation, revision, committedAt } };
}
