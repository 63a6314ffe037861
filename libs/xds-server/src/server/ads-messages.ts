import { printableText } from '@causeway/resources';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { frameMessage } from '@causeway/grpc-server';
import { DeltaDiscoveryRequest, DiscoveryRequest, type Node } from '@causeway/proto-gen';
import type { EncodedResource } from '../resources/encoded-resource';

/** The variants of the protocol: incremental (`delta`), and state of the world (`sotw`). */
export type AdsForm = 'delta' | 'sotw';

/** A request of either variant. */
export interface AdsRequest {
  readonly node: Node | undefined;
  readonly type: string;
  readonly nonce: string;
  /** The error text of a rejection of the response with this nonce. */
  readonly error: string | undefined;
  /** Delta: names to subscribe to. */
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /** State of the world: all subscribed names. */
  readonly names: readonly string[];
  /** Delta: the versions of the resources that the proxy holds when its stream begins. */
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

/** A proxy exceeded a limit of the protocol: its stream ends with this text. */
export class ProtocolViolation extends Error {}

/** Maximum number of fields of a request; a name is one or two of them: all names that a stream may have, and some unsubscribed names. */
const MAX_FIELDS = 160_000;
/** Maximum size of a node, bytes: Envoy lists all its extensions there, and kuma-dp its Dataplane. */
const MAX_NODE_BYTES = 512 * 1024;
/** The number of the field `node`. */
const NODE: Readonly<Record<AdsForm, number>> = { delta: 1, sotw: 2 };

/**
 * Returns the encoded node of a request; undefined if it has none. Costs only the tags of the request, so it is safe before authentication. Throws
 * ProtocolViolation above the limits, and another error if the bytes are malformed.
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

/** Decodes a request. Throws if the bytes are malformed. Call `readNodeBytes` first, which checks the limits. */
export function decodeRequest(form: AdsForm, bytes: Buffer): AdsRequest {
  if (form === 'delta') {
    const request = DeltaDiscoveryRequest.decode(bytes);
    const held = Object.entries(request.initialResourceVersions);
    // No object spread here: most requests are acks, thousands for each change.
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

/** Maximum length of a rejection text that is read. */
const MAX_ERROR_LENGTH = 16_384;

/** Returns the error text of a rejection, printable, with its line breaks. */
function readError(detail: { readonly message: string } | undefined): string | undefined {
  return detail && printableText(detail.message, MAX_ERROR_LENGTH, { lines: true });
}

/** An encoded response. */
export interface AdsResponse {
  readonly nonce: string;
  /** A gRPC message with its frame header. */
  readonly frame: Buffer;
}

/**
 * Encodes responses. Many proxies get the same response at the same time: the latest response is encoded and framed once for all of them, with one
 * nonce. Nonces increase on each stream, so none is repeated there.
 */
export class ResponseEncoder {
  private count = 0;
  private latest: (AdsResponse & { readonly content: AdsContent }) | undefined;

  /** `previous`: the nonce of the latest response of this type on the stream. */
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

/** Copies the encodings of the resources, which all responses share. */
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

/** Encodes a resource as an element of a response, once. */
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

/** Returns the size of a resource in a response, bytes. */
export function countBytes(resource: EncodedResource): number {
  return resource.bytes.length + resource.type.length + resource.name.length + 40;
}
