import { identityKey, jsonEqual, shortened, type Identity, type Kind, type Resource } from '@causeway/resources';
import type { SealingKeys } from '@causeway/identity';
import { errorText } from '@causeway/runtime';
import type { PutChange, IndexReader } from '@causeway/store';
import {
  inboundViolation,
  ownershipViolation,
  withOwnConditions,
  type InboundItem,
  type InboundMessage,
  type Receiver,
  type Rejection,
} from '@causeway/sync';
import type { ResponseBounds } from '../../wire/bounds';
import { toCopy, type Copy, type Sender } from '../../wire/copy';
import { isInsightKind, withoutCounters } from '../proxy-insights';
import { withReportedInstances } from '@causeway/kuma';
import { withSealedKey } from '../../wire/secrets';
import type { Dialect } from '../../wire/dialect';
import { formatWireKey, isStatusSentDown, type WireResource } from '../../wire/wire-resource';
import type { DecodedResource } from '../../wire/resource-decoder';
import { decodeEntry, type OpenedResponse } from '../../wire/response';

/** The write of a copy. */
export type CopyPut = PutChange & { readonly copy: NonNullable<PutChange['copy']> };

/** Dependencies of decoding a message. */
export interface MessageContext {
  readonly receiver: Receiver;
  /** Returns the kind of a received resource; undefined for kinds without a subscription. */
  readonly findKind: (name: string) => Kind | undefined;
  readonly index: IndexReader;
  /** Returns whether the index contains this stream's last write of the resource with this identity key. */
  readonly hasSeen: (key: string) => boolean;
  readonly dialect: Dialect;
  /** Returns whether the full state of a kind was held before the message being decoded. */
  readonly isWhole: (kind: string) => boolean;
  readonly now: () => number;
  /** Returns why the operator refuses a resource; undefined if the operator does not. */
  readonly refusal?: (id: Identity) => string | undefined;
  /** Seals the keys of mesh authorities, which a Kuma global sends to zones. */
  readonly sealing?: SealingKeys;
}

/** A response in the form that the inbox takes, and the facts of its resources by wire key. */
export interface ReceivedMessage {
  readonly message: InboundMessage<CopyPut>;
  readonly facts: ReadonlyMap<string, EntryFacts>;
}

/** Facts of a resource in a message in addition to its content. */
interface EntryFacts {
  /** The sender's version. */
  readonly version: string;
  /** Size on the wire. */
  readonly bytes: number;
}

/** Factor by which a resource on the wire may exceed its kind's bound, for status, white space, names and metadata. */
const MAX_WIRE_FACTOR = 3;

/**
 * Decodes a response for the inbox: the writes of its valid resources, and rejections of the others. Each step decodes
 * and validates one resource. Throws if the whole message is unusable.
 */
export function* decodeMessage(
  response: OpenedResponse,
  context: MessageContext & { readonly bounds: ResponseBounds },
): Generator<void, ReceivedMessage> {
  const kind = context.findKind(response.kind);
  const arrivals: InboundItem<CopyPut>[] = [];
  const rejected: Rejection[] = [];
  const facts = new Map<string, EntryFacts>();
  const { dialect } = context;
  // A resource larger than its kind's bound in any encoding is not parsed.
  const resource = Math.min(context.bounds.resource, kind ? MAX_WIRE_FACTOR * kind.bounds.bytes : Infinity);
  const bounds = { ...context.bounds, resource };
  for (const entry of response.entries) {
    const received = decodeEntry(response.kind, entry, dialect, bounds);
    const wireKey = formatWireKey(received.ok ? received.resource : received.fault);
    facts.set(wireKey, { version: received.version, bytes: entry.length });
    const arrival = received.ok
      ? validateResource(received.resource, kind, context)
      : { wireKey, reason: received.fault.reason };
    if ('reason' in arrival) rejected.push(arrival);
    else arrivals.push(arrival);
    yield;
  }
  const { more = false, resumed = false } = response.position ?? {};
  const gone = response.position?.gone.map((id) => ({ kind: response.kind, ...id })) ?? [];
  const removed = response.removed.map(formatWireKey);
  return { message: { kind: response.kind, items: arrivals, rejected, removed, gone, more, resumed }, facts };
}

/** Validates one resource; if its validation throws, only that resource is rejected. */
function validateResource(
  wire: WireResource,
  kind: Kind | undefined,
  context: MessageContext,
): InboundItem<CopyPut> | Rejection {
  try {
    return toArrival(wire, kind, context);
  } catch (error) {
    return { wireKey: formatWireKey(wire), reason: `it cannot be validated: ${errorText(error)}` };
  }
}

function toArrival(
  wire: WireResource,
  kind: Kind | undefined,
  context: MessageContext,
): InboundItem<CopyPut> | Rejection {
  const wireKey = formatWireKey(wire);
  if (!kind) return { wireKey, reason: `kind ${shortened(wire.kind, 80)} is not known here` };
  const made = toCopy(withSealedKey(wire, context.sealing), kind, toSender(context.receiver));
  if (!made.ok) return { wireKey, reason: made.reason };
  const { id } = made.copy;
  const reason = ownershipViolation(kind, id, context.receiver) ?? context.refusal?.(id) ?? findFault(kind, made.copy);
  if (reason !== undefined) return { wireKey, reason };
  const content = toPut(made.copy, context);
  // A resource that competes with no other zone or global resource keeps the creation order of its zone.
  if (context.receiver.role !== 'global' || kind.sync.down === 'nothing') return { wireKey, id, content };
  return { wireKey, id, content: { ...content, orderFrom: context.isWhole(kind.name) ? 'now' : 'moment' } };
}

/** Validates the resource in the form in which the store will hold it. */
function findFault(kind: Kind, { id, labels, spec, status, facts }: Copy): string | undefined {
  const { uid, generation, creationOrder, origin } = facts;
  return inboundViolation(kind, {
    id,
    uid,
    labels,
    spec,
    status,
    generation,
    creationOrder,
    revision: origin.revision,
  });
}

function toSender(receiver: Receiver): Sender {
  return receiver.role === 'global' ? { role: 'zone', zone: receiver.from } : { role: 'global' };
}

function toPut({ id, labels, spec: sent, status, facts }: Copy, context: MessageContext): CopyPut {
  const key = identityKey(id);
  const held = context.index.byIdentityKey(key);
  const isOfKuma = !context.dialect.json && context.receiver.role === 'global' && id.kind === 'MeshService';
  const counted = isOfKuma ? withReportedInstances(sent, status ?? {}, held?.spec) : sent;
  const spec = isInsightKind(id.kind) ? withoutCounters(counted, held?.spec) : counted;
  const put = { type: 'put', id, expect: 'any', labels, spec } as const;
  // Zones send status to the global; the global sends none: a zone computes its own (docs/reference/kds-wire.md §4.2).
  // The exception is a Zone, whose status only the global writes: if the message has none, the copy loses its status.
  const goes = context.receiver.role === 'global' ? status : isStatusSentDown(id.kind) ? (status ?? {}) : undefined;
  const statusPart = goes === undefined ? {} : { status: withOwnConditions(goes, held?.status) };
  // Resources that Kuma created have no creation order, whichever peer sends them (docs/design.md §4 Creation order).
  if (context.dialect.meta && facts.createdAt > 0) {
    const isRelayed = context.receiver.role === 'zone' && goes === undefined;
    const origin =
      isRelayed && held && context.hasSeen(key) ? selectOrigin(held, { labels, spec, facts }) : facts.origin;
    return { ...put, ...statusPart, copy: { ...facts, origin } };
  }
  const ages = deriveAges({ labels, spec }, held, context.now());
  const generation = context.dialect.meta ? facts.generation : ages.generation;
  return { ...put, ...statusPart, copy: { ...facts, generation, createdAt: facts.createdAt || ages.createdAt } };
}

/**
 * Returns the origin of a relayed copy. If only the status changed at the origin, which the copy does not have, the
 * copy keeps its origin: a session that resumes from before the change receives it without a write. `held` must be the
 * stored copy: the store refuses an older origin.
 */
function selectOrigin(held: Resource, { labels, spec, facts }: Pick<Copy, 'labels' | 'spec' | 'facts'>): CopyOrigin {
  const { origin, generation, creationOrder, uid } = held;
  const isSame =
    origin?.incarnation === facts.origin.incarnation &&
    origin.revision <= facts.origin.revision &&
    generation === facts.generation &&
    creationOrder === facts.creationOrder &&
    uid === facts.uid &&
    jsonEqual(held.labels, labels) &&
    jsonEqual(held.spec, spec);
  return isSame ? origin : facts.origin;
}

type CopyOrigin = Copy['facts']['origin'];

/** Returns generation and creation order of a plain Kuma peer's resource, which the peer does not send. */
function deriveAges(
  copy: Pick<Copy, 'labels' | 'spec'>,
  held: Resource | undefined,
  now: number,
): { readonly generation: number; readonly createdAt: number } {
  if (!held) return { generation: 1, createdAt: now };
  const same = jsonEqual(held.labels, copy.labels) && jsonEqual(held.spec, copy.spec);
  return { generation: same ? held.generation : held.generation + 1, createdAt: held.createdAt };
}

/** Decodes the resources of a response that is not stored; each step decodes one. */
export function* decodeEntries(
  { kind, entries }: OpenedResponse,
  { dialect, bounds }: Pick<MessageContext, 'dialect'> & { readonly bounds: ResponseBounds },
): Generator<void, readonly DecodedResource[]> {
  const read: DecodedResource[] = [];
  for (const entry of entries) {
    read.push(decodeEntry(kind, entry, dialect, bounds));
    yield;
  }
  return read;
}
