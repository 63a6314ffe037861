import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { DeltaDiscoveryResponse, DiscoveryResource, StateMark } from '@causeway/proto-gen';
import {
  checkBytes,
  checkFields,
  BoundsExceeded,
  fieldsOf,
  MAX_KIND_LENGTH,
  UNBOUNDED,
  type ResponseBounds,
} from './bounds';
import type { Dialect } from './dialect';
import { decodeResource, type DecodedResource } from './resource-decoder';
import { formatWireKey, parseWireKey, type WireKey } from './wire-resource';
import type { EncodedResource } from './resource-encoder';

/** Field of our mark in a DeltaDiscoveryResponse; Kuma ignores it and is never sent it. */
const MARK_FIELD = 100;
const MARK_TAG = MARK_FIELD * 8 + 2;
const Field = { systemVersion: 1, resources: 2, typeUrl: 4, nonce: 5, removed: 6, controlPlane: 7 } as const;
const CONTROL_PLANE_IDENTIFIER = 1;

/** Parts of a response that are neither resources nor removals: more make no sense. */
const MAX_HEAD_FIELDS = 100;

/** Where a piece of state stands: which state, cut how, and whether more of it follows (cw-chunk, cw-resume). */
export interface StatePosition {
  readonly incarnation: string;
  readonly revision: number;
  /** Hash of the rules the state was cut by. */
  readonly view: string;
  /** Further pieces follow: nothing may be concluded from absence yet. */
  readonly more: boolean;
  /** Only changes since the resume point: absence means nothing. */
  readonly resumed: boolean;
  /** What the peer may hold from before and may hold no longer; only where `resumed`. */
  readonly gone: readonly GoneResource[];
  /** MAC of the point that is reached with this message; absent where none is. */
  readonly mac?: string;
}

/** Longest text of a mark: hashes, ids and MACs are shorter. */
const MAX_MARK_TEXT = 200;

/** A resource of the message's kind that is no more. */
export interface GoneResource {
  readonly mesh: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
}

/** What one response says before its resources. */
export interface ResponseHead {
  readonly kind: string;
  readonly nonce: string;
  /** Informative: "global" or the zone's name. */
  readonly controlPlane: string;
  /** Only between Causeway peers. */
  readonly position?: StatePosition;
}

export interface OutgoingResponse extends ResponseHead {
  readonly resources: readonly EncodedResource[];
  readonly removed: readonly WireKey[];
}

export interface IncomingResponse extends ResponseHead {
  readonly resources: readonly DecodedResource[];
  readonly removed: readonly WireKey[];
}

/** The bytes of a DeltaDiscoveryResponse; of its resources only copies are made. */
export function encodeResponse(response: OutgoingResponse): Buffer {
  const head = response.position === undefined ? [] : [versionField(response.position)];
  return Buffer.concat([...head, ...response.resources.map((resource) => resource.entry), tail(response)]);
}

/** A message that is no message: the stream is of no use. */
export class MalformedMessage extends Error {}

/** A response whose resources are still bytes. */
export interface OpenedResponse extends ResponseHead {
  readonly removed: readonly WireKey[];
  readonly entries: readonly Uint8Array[];
}

/** Reads what a response says beside its resources; those are only found. Throws BoundsExceeded, Unreadable. */
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

/** Reads one of a response's entries. Throws Unreadable when it is no resource at all. */
export function decodeEntry(kind: string, entry: Uint8Array, dialect: Dialect, bounds = UNBOUNDED): DecodedResource {
  const outer = orMalformed(() => DiscoveryResource.decode(entry));
  return decodeResource(kind, outer, dialect, bounds.resource);
}

/** A response with all its resources. Throws as `openResponse` and `decodeEntry` do. */
export function decodeResponse(bytes: Uint8Array, dialect: Dialect, bounds = UNBOUNDED): IncomingResponse {
  const { entries, ...head } = openResponse(bytes, bounds);
  return { ...head, resources: entries.map((entry) => decodeEntry(head.kind, entry, dialect, bounds)) };
}

/** A message without its resources, and those. */
function split(
  bytes: Uint8Array,
  items: number,
): { readonly head: Uint8Array; readonly entries: readonly Uint8Array[] } {
  const entries: Uint8Array[] = [];
  const head: Uint8Array[] = [];
  for (const field of fieldsOf('a response', bytes, items + MAX_HEAD_FIELDS)) {
    if (field.number === Field.resources) entries.push(field.content);
    else head.push(bytes.subarray(field.start, field.end));
  }
  return { head: Buffer.concat(head), entries };
}

function versionField({ revision }: StatePosition): Uint8Array {
  return new BinaryWriter()
    .uint32(Field.systemVersion * 8 + 2)
    .string(String(revision))
    .finish();
}

function tail({ kind, nonce, controlPlane, removed, position }: OutgoingResponse): Uint8Array {
  const out = new BinaryWriter();
  const text = (field: number, value: string): BinaryWriter => out.uint32(field * 8 + 2).string(value);
  text(Field.typeUrl, kind);
  text(Field.nonce, nonce);
  for (const key of removed) text(Field.removed, formatWireKey(key));
  out.uint32(Field.controlPlane * 8 + 2).fork();
  text(CONTROL_PLANE_IDENTIFIER, controlPlane).join();
  if (position !== undefined)
    out.uint32(MARK_TAG).bytes(StateMark.encode({ mac: '', ...position, gone: [...position.gone] }).finish());
  return out.finish();
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
