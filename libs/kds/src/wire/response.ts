import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { DeltaDiscoveryResponse, DiscoveryResource, StateMark } from '@causeway/proto-gen';
import {
  checkBytes,
  checkFields,
  BoundsExceeded,
  readFields,
  MAX_KIND_LENGTH,
  UNBOUNDED,
  type ResponseBounds,
} from './bounds';
import type { Dialect } from './dialect';
import { decodeResource, type DecodedResource } from './resource-decoder';
import { formatWireKey, parseWireKey, type WireKey } from './wire-resource';
import type { EncodedWireResource } from './resource-encoder';

/** Field number of our StateMark in a DeltaDiscoveryResponse; never sent to Kuma, which would ignore it. */
const MARK_FIELD = 100;
const MARK_TAG = MARK_FIELD * 8 + 2;
const Field = { systemVersion: 1, resources: 2, typeUrl: 4, nonce: 5, removed: 6, controlPlane: 7 } as const;
const CONTROL_PLANE_IDENTIFIER = 1;

/** Maximum number of fields of a response that are neither resources nor removals. */
const MAX_HEAD_FIELDS = 100;

/** Position of a message in the state of its sender (cw-chunk, cw-resume). */
export interface StatePosition {
  readonly incarnation: string;
  readonly revision: number;
  /** Hash of the rules that select the receiver's resources. */
  readonly view: string;
  /** Further chunks follow: absence does not mean deletion yet. */
  readonly more: boolean;
  /** Contains only changes since the resume point: absence does not mean deletion. */
  readonly resumed: boolean;
  /** Resources that the receiver may hold from an earlier stream and must drop; only if `resumed`. */
  readonly gone: readonly GoneResource[];
  /** MAC of the resume point that this message reaches, if it reaches one. */
  readonly mac?: string;
}

/** Maximum length of the texts of a StateMark: hashes, ids and MACs are shorter. */
const MAX_MARK_TEXT = 200;

/** Identity of a deleted resource of the message's kind. */
interface GoneResource {
  readonly mesh: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
}

/** The fields of a response other than resources and removals. */
interface ResponseHead {
  readonly kind: string;
  readonly nonce: string;
  /** Informative: "global" or the zone's name. */
  readonly controlPlane: string;
  /** Only between Causeway peers. */
  readonly position?: StatePosition;
}

export interface OutgoingResponse extends ResponseHead {
  readonly resources: readonly EncodedWireResource[];
  readonly removed: readonly WireKey[];
}

export interface IncomingResponse extends ResponseHead {
  readonly resources: readonly DecodedResource[];
  readonly removed: readonly WireKey[];
}

/** Encodes a DeltaDiscoveryResponse; the bytes of its resources are copied, not encoded again. */
export function encodeResponse({ resources, ...rest }: OutgoingResponse): Buffer {
  return Buffer.concat([...resources.map(({ entry }) => entry), encodeResponseWithout(rest)]);
}

/** Encodes what a DeltaDiscoveryResponse has beside its resources, whose bytes may stand before it. */
export function encodeResponseWithout(response: Omit<OutgoingResponse, 'resources'>): Uint8Array {
  const { kind, nonce, controlPlane, removed, position } = response;
  const out = new BinaryWriter();
  const text = (field: number, value: string): BinaryWriter => out.uint32(field * 8 + 2).string(value);
  if (position !== undefined) text(Field.systemVersion, String(position.revision));
  text(Field.typeUrl, kind);
  text(Field.nonce, nonce);
  for (const key of removed) text(Field.removed, formatWireKey(key));
  out.uint32(Field.controlPlane * 8 + 2).fork();
  text(CONTROL_PLANE_IDENTIFIER, controlPlane).join();
  if (position !== undefined)
    out.uint32(MARK_TAG).bytes(StateMark.encode({ mac: '', ...position, gone: [...position.gone] }).finish());
  return out.finish();
}

/** The bytes are not a valid message, so the stream has to end. */
export class MalformedMessage extends Error {}

/** A response whose resources are not decoded. */
export interface OpenedResponse extends ResponseHead {
  readonly removed: readonly WireKey[];
  readonly entries: readonly Uint8Array[];
}

/** Decodes a response except its resources. Throws BoundsExceeded, MalformedMessage. */
export function openResponse(bytes: Uint8Array, bounds: ResponseBounds): OpenedResponse {
  return orMalformed(() => open(bytes, bounds));
}

function orMalformed<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof BoundsExceeded) throw error;
    throw new MalformedMessage(`response cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function open(bytes: Uint8Array, bounds: ResponseBounds): OpenedResponse {
  checkBytes('a response', bytes.length, bounds.bytes);
  const { head, entries } = split(bytes, bounds.items);
  const message = DeltaDiscoveryResponse.decode(head);
  if (message.typeUrl.length > MAX_KIND_LENGTH) {
    throw new BoundsExceeded(`the name of a kind has ${message.typeUrl.length} characters; at most ${MAX_KIND_LENGTH}`);
  }
  const position = decodePosition(message, bounds);
  return {
    kind: message.typeUrl,
    nonce: message.nonce,
    controlPlane: message.controlPlane?.identifier ?? '',
    ...(position === undefined ? {} : { position }),
    removed: message.removedResources.map(parseWireKey),
    entries,
  };
}

/** Decodes one entry of a response. Throws MalformedMessage if it is not a discovery Resource. */
export function decodeEntry(kind: string, entry: Uint8Array, dialect: Dialect, bounds = UNBOUNDED): DecodedResource {
  const outer = orMalformed(() => DiscoveryResource.decode(entry));
  return decodeResource(kind, outer, dialect, bounds.resource);
}

/** Splits a message into the bytes without resources and the bytes of each resource. */
function split(
  bytes: Uint8Array,
  items: number,
): { readonly head: Uint8Array; readonly entries: readonly Uint8Array[] } {
  const entries: Uint8Array[] = [];
  const head: Uint8Array[] = [];
  for (const field of readFields('a response', bytes, items + MAX_HEAD_FIELDS)) {
    if (field.number === Field.resources) entries.push(field.content);
    else head.push(bytes.subarray(field.start, field.end));
  }
  return { head: Buffer.concat(head), entries };
}

function decodeGone({ mesh, zone, namespace, name }: GoneResource): GoneResource {
  return { mesh, zone, namespace, name };
}

function decodePosition(
  { systemVersionInfo, _unknownFields }: DeltaDiscoveryResponse,
  { items }: ResponseBounds,
): StatePosition | undefined {
  const bytes = _unknownFields?.[MARK_TAG]?.at(-1);
  if (bytes === undefined) return undefined;
  const mark = new BinaryReader(bytes).bytes();
  checkFields('a mark of state', mark, items);
  const { more, resumed, incarnation, view, gone, mac } = StateMark.decode(mark);
  const revision = Number(systemVersionInfo);
  if (!Number.isSafeInteger(revision))
    throw new TypeError(`system_version_info is not a revision: ${systemVersionInfo}`);
  if ([incarnation, view, mac].some((text) => text.length > MAX_MARK_TEXT))
    throw new TypeError(`a text of the mark is longer than ${MAX_MARK_TEXT} characters`);
  return { incarnation, revision, view, more, resumed, gone: gone.map(decodeGone), ...(mac === '' ? {} : { mac }) };
}
