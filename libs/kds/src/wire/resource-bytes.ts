import { hash } from 'node:crypto';
import { ResourceMeta } from '@causeway/proto-gen';
import type { ReverseWriter } from './reverse-writer';
import type { Payload } from '../kuma/payload';
import { formatWireKey, type WireMeta, type WireResource } from './wire-resource';

/** Type URL of what travels in a discovery Resource (kds.md §2.4). */
export const KUMA_RESOURCE_URL = 'type.googleapis.com/kuma.mesh.v1alpha1.KumaResource';

/** Numbers of the fields written here (kds.md Appendix A). */
const Entry = { version: 1, resource: 2, name: 3 } as const;
const AnyField = { typeUrl: 1, value: 2 } as const;
const KumaField = { meta: 1, spec: 2, status: 3 } as const;
const MetaField = { name: 1, mesh: 2, labels: 6, causeway: 100 } as const;
const LabelField = { key: 1, value: 2 } as const;
const RESPONSE_RESOURCES = 2;

/** One resource ready to be copied into any number of responses. */
export interface ResourceBytes {
  /** Lower-case hex sha256 of the KumaResource: equal content has an equal version. */
  readonly version: string;
  /** Field 2 of a DeltaDiscoveryResponse, tag and length included. */
  readonly entry: Buffer;
}

/** What a resource is made of once spec and status are said in the peer's language. */
export interface TranslatedResource {
  readonly resource: Omit<WireResource, 'spec' | 'status'>;
  readonly spec: Payload;
  readonly status: string | undefined;
}

/** Writes the discovery Resource around the KumaResource (kds.md Appendix B); labels sorted, so bytes are stable. */
export function writeResource(out: ReverseWriter, said: TranslatedResource): ResourceBytes {
  out.reset();
  out.field(Entry.name, formatWireKey(said.resource));
  const any = out.length;
  writeKumaResource(out, said);
  const version = hash('sha256', out.written(any), 'hex');
  out.close(AnyField.value, any);
  out.field(AnyField.typeUrl, KUMA_RESOURCE_URL);
  out.close(Entry.resource, any);
  out.field(Entry.version, version);
  out.close(RESPONSE_RESOURCES, 0);
  return { version, entry: Buffer.from(out.written(0)) };
}

function writeKumaResource(out: ReverseWriter, { resource, spec, status }: TranslatedResource): void {
  if (status !== undefined) writeAny(out, KumaField.status, { typeUrl: '', value: status });
  writeAny(out, KumaField.spec, spec);
  const meta = out.length;
  if (resource.meta !== undefined) out.field(MetaField.causeway, metaBytes(resource.meta));
  writeLabels(out, resource.labels);
  if (resource.mesh !== '') out.field(MetaField.mesh, resource.mesh);
  out.field(MetaField.name, resource.name);
  out.close(KumaField.meta, meta);
}

function writeAny(out: ReverseWriter, field: number, { typeUrl, value }: Payload): void {
  const since = out.length;
  if (value.length > 0) out.field(AnyField.value, value);
  if (typeUrl !== '') out.field(AnyField.typeUrl, typeUrl);
  out.close(field, since);
}

function writeLabels(out: ReverseWriter, labels: WireResource['labels']): void {
  for (const key of Object.keys(labels).sort().reverse()) {
    const since = out.length;
    out.field(LabelField.value, labels[key] ?? '');
    out.field(LabelField.key, key);
    out.close(MetaField.labels, since);
  }
}

function metaBytes(meta: WireMeta): Uint8Array {
  return ResourceMeta.encode({ ...meta }).finish();
}
