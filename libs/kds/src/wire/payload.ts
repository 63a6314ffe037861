import type { Any } from '@causeway/proto-gen';
import { unreadableTrust, withSourcesIn } from '@causeway/kinds';
import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { Dialect } from './dialect';
import { type KumaOptions, kumaTranslation } from '@causeway/kuma';
import type { WireResource } from './wire-resource';

/** Content of an Any; JSON has no type URL (docs/reference/kds-wire.md §2.7). */
export interface Payload {
  readonly typeUrl: string;
  readonly value: string | Uint8Array;
}

/**
 * A protobuf spec of an unknown kind is stored under these two keys and sent on unchanged (docs/reference/kds-wire.md
 * §2.7).
 */
const OPAQUE_TYPE = '@type';
const OPAQUE_VALUE = '@value';
const OPEN_BRACE = 0x7b;

/** Encodes the spec in the format of the peer. Throws, with the reason, if Kuma's message cannot express it. */
export function encodeSpec(resource: WireResource, dialect: Dialect, options: KumaOptions): Payload {
  const { kind } = resource;
  const spec = specFor(dialect, resource);
  if (dialect.json) return { typeUrl: '', value: JSON.stringify(spec) };
  const { [OPAQUE_TYPE]: typeUrl, [OPAQUE_VALUE]: value } = spec;
  if (typeof typeUrl === 'string' && typeof value === 'string') return { typeUrl, value: Buffer.from(value, 'base64') };
  const { proto, toKumaSpec } = kumaTranslation(kind);
  const translated = toKumaSpec === undefined ? spec : toKumaSpec(spec, options);
  return proto === undefined
    ? { typeUrl: '', value: JSON.stringify(translated) }
    : { typeUrl: proto.typeUrl, value: proto.encode(translated) };
}

/**
 * Returns the spec without fields that the peer would misread: users of Secrets, and sources in the other of Kuma's forms. Throws
 * for trust of a form that this version cannot read: a peer that ignores the unreadable part would trust every certificate.
 */
function specFor({ sources }: Dialect, { kind, spec }: Pick<WireResource, 'kind' | 'spec'>): JsonObject {
  if (sources === 'any') return spec;
  if (kind === 'Secret') {
    const { usedBy: _, ...plain } = spec;
    return spec['usedBy'] === undefined ? spec : plain;
  }
  if (kind !== 'MeshExternalService') return spec;
  const problem = unreadableTrust(spec);
  if (problem) throw new TypeError(`${problem.field} ${problem.reason}`);
  return withSourcesIn(sources, spec);
}

/** Encodes the status in the format of the peer, as JSON; undefined if the resource has none. */
export function encodeStatus(resource: WireResource, dialect: Dialect): string | undefined {
  const { kind, status } = resource;
  if (status === undefined) return undefined;
  const translate = dialect.json ? undefined : kumaTranslation(kind).toKumaStatus;
  return JSON.stringify(translate === undefined ? status : translate(status));
}

/** Decodes the spec into our format. Throws if it cannot be decoded or has the message type of another kind. */
export function decodeSpec(kind: string, any: Any | undefined, dialect: Dialect): JsonObject {
  if (any === undefined) throw new TypeError('spec is missing');
  const { proto, fromKumaSpec } = kumaTranslation(kind);
  // No protobuf message of these kinds starts with the byte of '{', and Kuma does not check the type URL of a JSON
  // spec.
  if (any.typeUrl === '' || any.value[0] === OPEN_BRACE) {
    const spec = parseJsonObject(any.value, 'spec');
    return dialect.json || fromKumaSpec === undefined ? spec : fromKumaSpec(spec);
  }
  if (proto === undefined) return { [OPAQUE_TYPE]: any.typeUrl, [OPAQUE_VALUE]: any.value.toString('base64') };
  if (any.typeUrl !== proto.typeUrl) throw new TypeError(`spec must be ${proto.typeUrl}; got ${any.typeUrl}`);
  return proto.decode(any.value);
}

/** Decodes the status into our format; undefined if the peer sent none. Throws if it is not a JSON object. */
export function decodeStatus(
  resource: Omit<WireResource, 'spec'>,
  any: Any | undefined,
  dialect: Dialect,
): JsonObject | undefined {
  if (any === undefined || any.value.length === 0) return undefined;
  const status = parseJsonObject(any.value, 'status');
  const translate = dialect.json ? undefined : kumaTranslation(resource.kind).fromKumaStatus;
  return translate === undefined ? status : translate(status, resource.labels);
}

function parseJsonObject(bytes: Buffer, what: string): JsonObject {
  const value: unknown = JSON.parse(bytes.toString('utf8'));
  if (!isJsonObject(value)) throw new TypeError(`${what} is not a JSON object`);
  return value;
}
