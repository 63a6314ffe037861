import { printableText } from '@causeway/resources';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { frameMessage } from '@causeway/grpc-server';
import { DeltaDiscoveryRequest, DiscoveryRequest, type Node } from '@causeway/proto-gen';
import type { EncodedResource } from '../resources/encoded-resource';

/** The two forms of the protocol: changes alone, and the state of the world. */
export type AdsForm = 'delta' | 'sotw';

/** A message of a proxy in either form. */
export interface AdsRequest {
  readonly node: Node | undefined;
  readonly type: string;
  readonly nonce: string;
  /** Why the response with this nonce was rejected. */
  readonly error: string | undefined;
  /** Delta: names that are wanted from now on, or no longer. */
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /** State of the world: all names that are wanted. */
  readonly names: readonly string[];
  /** Delta: what the proxy holds when its stream begins. */
  readonly versions: ReadonlyMap<string, string>;
  /** State of the world: the version that the proxy holds. */
  readonly version: string;
}

/** The content of a response. */
export interface AdsContent {
  readonly form: AdsForm;
  readonly type: string;
  readonly version: string;
  readonly resources: readonly EncodedResource[];
  readonly removed: readonly string[];
}

const NO_NAMES: readonly string[] = [];
const NO_VERSIONS: ReadonlyMap<string, string> = new Map();

/** A proxy breaks a bound of the protocol: its stream ends with this text. */
export class ProtocolViolation extends Error {}

/** Most fields of a request, each name being one or two: of all names that a stream may have, and some that it no longer wants. */
const MAX_FIELDS = 160_000;
/** Most bytes of a node: Envoy says all its extensions there, and kuma-dp its Dataplane. */
const MAX_NODE_BYTES = 512 * 1024;
/** The number of the field `node`. */
const NODE: Readonly<Record<AdsForm, number>> = { delta: 1, sotw: 2 };

/**
 * The node of a request, encoded; undefined where there is none. Costs the tags of the request and no more, so it can be asked of
 * whoever is not known yet. Throws ProtocolViolation above the bounds, and another error where the bytes are no message.
 */
export function readNodeBytes(form: AdsForm, bytes: Buffer): Uint8Array | undefined {
  const reader = new BinaryReader(bytes);
  let node: Uint8Array | undefined;
  for (let fields = 0; reader.pos < reader.len; fields++) {
    if (fields >= MAX_FIELDS) throw new ProtocolViolation(`a request has more than ${MAX_FIELDS} fields`);
    const [number, type] = reader.tag();
    if (number === NODE[form] && type === WireType.LengthDelimited) node = reader.bytes();
    else reader.skip(type, number);
  }
  if (node && node.length > MAX_NODE_BYTES)
    throw new ProtocolViolation(`node: must have at most ${MAX_NODE_BYTES} bytes, has ${node.length}`);
  return node;
}

/** Throws where the bytes are no request. Check them by `readNodeBytes` first. */
export function decodeRequest(form: AdsForm, bytes: Buffer): AdsRequest {
  if (form === 'delta') {
    const request = DeltaDiscoveryRequest.decode(bytes);
    const held = Object.entries(request.initialResourceVersions);
    // No spread: most requests are acks, which a change brings by the thousand.
    return {
      node: request.node,
      type: request.typeUrl,
      nonce: request.responseNonce,
      error: readError(request.errorDetail),
      subscribe: request.resourceNamesSubscribe,
      unsubscribe: request.resourceNamesUnsubscribe,
      names: NO_NAMES,
      versions: held.length === 0 ? NO_VERSIONS : new Map(held),
      version: '',
    };
  }
  const { node, typeUrl, responseNonce, errorDetail, resourceNames, versionInfo } = DiscoveryRequest.decode(bytes);
  return {
    node,
    type: typeUrl,
    nonce: responseNonce,
    error: readError(errorDetail),
    names: resourceNames,
    subscribe: [],
    unsubscribe: [],
    versions: NO_VERSIONS,
    version: versionInfo,
  };
}

/** Longest text of a rejection that is read. */
const MAX_ERROR_LENGTH = 16_384;

/** Why the proxy rejects what it got, printable and with its lines. */
function readError(detail: { readonly message: string } | undefined): string | undefined {
  return detail && printableText(detail.message, MAX_ERROR_LENGTH, { lines: true });
}

/** A response as it is written. */
export interface AdsResponse {
  readonly nonce: string;
  /** A message of gRPC with its frame. */
  readonly frame: Buffer;
}

/**
 * Encodes responses. Many proxies are sent the same at the same time: the latest response is encoded and framed once for all of them,
 * with one nonce. Nonces grow on each stream, so none is used twice there.
 */
export class ResponseEncoder {
  private count = 0;
  private latest: (AdsResponse & { readonly content: AdsContent }) | undefined;

  /** `previous` is the nonce of the latest response of this type on the stream. */
  encode(content: AdsContent, previous: string | undefined): AdsResponse {
    const { latest } = this;
    if (latest && latest.nonce !== previous && isSame(latest.content, content)) return latest;
    const nonce = (++this.count).toString(36);
    this.latest = { content, nonce, frame: frameMessage(encodeMessage(content, nonce)) };
    return this.latest;
  }
}

function isSame(a: AdsContent, b: AdsContent): boolean {
  return (
    a.type === b.type &&
    a.form === b.form &&
    a.version === b.version &&
    a.resources.length === b.resources.length &&
    a.removed.length === b.removed.length &&
    a.resources.every((resource, i) => resource === b.resources[i]) &&
    a.removed.every((name, i) => name === b.removed[i])
  );
}

/** Resources are copied from their own encoding, which all responses share. */
function encodeMessage(response: AdsContent, nonce: string): Buffer {
  const { form } = response;
  const head = new BinaryWriter().tag(1, WireType.LengthDelimited).string(response.version).finish();
  const tail = new BinaryWriter().tag(4, WireType.LengthDelimited).string(response.type);
  tail.tag(5, WireType.LengthDelimited).string(nonce);
  if (form === 'delta') for (const name of response.removed) tail.tag(6, WireType.LengthDelimited).string(name);
  return Buffer.concat([head, ...response.resources.map((resource) => encodeEntry(form, resource)), tail.finish()]);
}

const entries: Readonly<Record<AdsForm, WeakMap<EncodedResource, Uint8Array>>> = {
  delta: new WeakMap(),
  sotw: new WeakMap(),
};

/** A resource as an element of a response, made once. */
function encodeEntry(form: AdsForm, resource: EncodedResource): Uint8Array {
  const known = entries[form].get(resource);
  if (known) return known;
  const any = new BinaryWriter().tag(1, WireType.LengthDelimited).string(resource.type);
  any.tag(2, WireType.LengthDelimited).bytes(resource.bytes);
  const entry = new BinaryWriter().tag(2, WireType.LengthDelimited);
  if (form === 'sotw') entry.bytes(any.finish());
  else {
    const named = new BinaryWriter().tag(1, WireType.LengthDelimited).string(resource.version);
    named.tag(2, WireType.LengthDelimited).bytes(any.finish());
    named.tag(3, WireType.LengthDelimited).string(resource.name);
    entry.bytes(named.finish());
  }
  const bytes = entry.finish();
  entries[form].set(resource, bytes);
  return bytes;
}

/** Bytes that a resource takes in a response. */
export function countBytes(resource: EncodedResource): number {
  return resource.bytes.length + resource.type.length + resource.name.length + 40;
}
