import { hash } from 'node:crypto';
import { ResourceMeta } from '@causeway/proto-gen';
import type { ControlPlane, OriginRevision, Resource } from '@causeway/resources';
import { encodeSpec, encodeStatus, type Payload } from './payload';
import { isLocalSecret, withOpenedKey, withPublicKeyOnly } from './secrets';
import type { KumaOptions } from '@causeway/kuma';
import type { Dialect } from './dialect';
import { ReverseWriter } from './reverse-writer';
import { formatWireKey, toWireResource, type WireKey, type WireMeta, type WireResource } from './wire-resource';

/** Type URL of the Any in a discovery Resource (docs/reference/kds-wire.md §2.4). */
export const KUMA_RESOURCE_URL = 'type.googleapis.com/kuma.mesh.v1alpha1.KumaResource';

/** Numbers of the fields written here (docs/reference/kds-wire.md Appendix A). */
const Entry = { version: 1, resource: 2, name: 3 } as const;
const AnyField = { typeUrl: 1, value: 2 } as const;
const KumaField = { meta: 1, spec: 2, status: 3 } as const;
const MetaField = { name: 1, mesh: 2, labels: 6, causeway: 100 } as const;
const LabelField = { key: 1, value: 2 } as const;
const RESPONSE_RESOURCES = 2;

const SOURCES: readonly Dialect['sources'][] = ['any', 'untyped', 'typed'];

/** A resource encoded for all peers of one dialect, ready to be copied into any number of responses. */
export interface EncodedWireResource extends WireKey {
  readonly kind: string;
  /** Lower-case hex sha256 of the KumaResource: equal content has an equal version. */
  readonly version: string;
  /** Field 2 of a DeltaDiscoveryResponse, tag and length included. */
  readonly entry: Buffer;
  /** The change that produced this encoding, if it belongs to a trace. */
  readonly traced?: OriginRevision;
}

/** The encoding, or why the dialect cannot express the resource: it is then not sent, and a condition reports the reason (docs/design.md §5). */
export type Encoding =
  { readonly ok: true; readonly resource: EncodedWireResource } | { readonly ok: false; readonly reason: string };

/**
 * Encodes the resources of one control plane, each once per dialect: all streams share the bytes (docs/design.md §5).
 * Encodings are cached by object identity as long as the object lives, so a changed resource must be a new object.
 */
export class ResourceEncoder {
  private readonly cache = new WeakMap<Resource, Encoding[]>();
  private readonly out = new ReverseWriter();

  constructor(
    private readonly cp: ControlPlane,
    private readonly options: KumaOptions = { meshServicesMode: 'Everywhere' },
  ) {}

  /** Encodes a stored resource for peers of this dialect. */
  encode(resource: Resource, dialect: Dialect): Encoding {
    const encodings = this.listEncodings(resource);
    const slot = (dialect.json ? 1 : 0) + (dialect.meta ? 2 : 0) + 4 * SOURCES.indexOf(dialect.sources);
    return (encodings[slot] ??= this.encodeWire(toWireResource(resource, this.cp, dialect), dialect));
  }

  /** Encodes a resource that is not in the store, such as Config; not cached. */
  encodeWire(wire: WireResource, dialect: Dialect): Encoding {
    try {
      if (isLocalSecret(wire)) return { ok: false, reason: 'this secret never leaves its control plane' };
      const resource = withOpenedKey(withPublicKeyOnly(wire), dialect, this.options.sealing);
      const payloads = { spec: encodeSpec(resource, dialect, this.options), status: encodeStatus(resource, dialect) };
      const isRelayed = this.cp.role === 'global' && resource.meta !== undefined && resource.meta.zone !== '';
      return { ok: true, resource: writeEntry(this.out, resource, payloads, isRelayed) };
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  private listEncodings(resource: Resource): Encoding[] {
    const known = this.cache.get(resource);
    if (known !== undefined) return known;
    const fresh: Encoding[] = [];
    this.cache.set(resource, fresh);
    return fresh;
  }
}

/** Encoded spec and status of a resource in the format of the peer. */
interface Payloads {
  readonly spec: Payload;
  readonly status: string | undefined;
}

/**
 * Writes the discovery Resource around the KumaResource (docs/reference/kds-wire.md Appendix B). A relayed resource is
 * sent without status, but a change of status raises the origin's revision: so its version leaves out the revision, and
 * zones are not sent an unchanged resource. In another incarnation of the origin the version differs.
 */
function writeEntry(
  out: ReverseWriter,
  resource: WireResource,
  payloads: Payloads,
  isRelayed: boolean,
): EncodedWireResource {
  const relayed = isRelayed ? versionWithoutRevision(out, resource, payloads) : undefined;
  out.reset();
  out.field(Entry.name, formatWireKey(resource));
  const any = out.length;
  writeKumaResource(out, resource, payloads);
  const version = relayed ?? hash('sha256', out.written(any), 'hex');
  out.close(AnyField.value, any);
  out.field(AnyField.typeUrl, KUMA_RESOURCE_URL);
  out.close(Entry.resource, any);
  out.field(Entry.version, version);
  out.close(RESPONSE_RESOURCES, 0);
  const { kind, name, mesh } = resource;
  const encoded = { kind, name, mesh, version, entry: Buffer.from(out.written(0)) };
  const origin = resource.meta?.origin;
  return origin?.traceparent === undefined ? encoded : { ...encoded, traced: origin };
}

function versionWithoutRevision(out: ReverseWriter, resource: WireResource, payloads: Payloads): string {
  const { meta } = resource;
  out.reset();
  const origin = meta && { incarnation: meta.origin.incarnation, revision: 0, committedAt: 0 };
  const still = origin && { meta: { ...meta, origin } };
  writeKumaResource(out, { ...resource, ...still }, payloads);
  return hash('sha256', out.written(0), 'hex');
}

function writeKumaResource(out: ReverseWriter, resource: WireResource, { spec, status }: Payloads): void {
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

/** Sorted, so that equal content has equal bytes. */
function writeLabels(out: ReverseWriter, labels: WireResource['labels']): void {
  for (const key of Object.keys(labels).sort().reverse()) {
    const since = out.length;
    out.field(LabelField.value, labels[key] ?? '');
    out.field(LabelField.key, key);
    out.close(MetaField.labels, since);
  }
}

function metaBytes(meta: WireMeta): Uint8Array {
  const { origin } = meta;
  return ResourceMeta.encode({ ...meta, origin: { ...origin, traceparent: origin.traceparent ?? '' } }).finish();
}
