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
  /** The kind of what the peer sends; undefined for kinds that were not asked for. */
  readonly findKind: (name: string) => Kind | undefined;
  readonly index: IndexReader;
  /** Whether the index contains what this stream wrote last of the resource with this identity key. */
  readonly hasSeen: (key: string) => boolean;
  readonly dialect: Dialect;
  /** Whether the whole state of a kind was held until the message that is decoded. */
  readonly isWhole: (kind: string) => boolean;
  readonly now: () => number;
  /** Why the operator refuses a resource; undefined where the operator does not. */
  readonly refusal?: (id: Identity) => string | undefined;
  /** Seals the keys of authorities of meshes, which a Kuma global sends to zones. */
  readonly sealing?: SealingKeys;
}

/** A response as the inbox takes it, and the facts of its resources by wire key. */
export interface ReceivedMessage {
  readonly message: InboundMessage<CopyPut>;
  readonly facts: ReadonlyMap<string, EntryFacts>;
}

/** Facts of a resource in a message beside its content. */
interface EntryFacts {
  /** The sender's version. */
  readonly version: string;
  /** Size on the wire. */
  readonly bytes: number;
}

/** How much larger than its kind's bound a resource may be on the wire, with status, white space, names and facts. */
const SLACK = 3;

/**
 * Decodes a response for the inbox: the writes of its valid resources, and rejections of the others. Each step decodes and
 * validates one resource. Throws where the whole message is unusable.
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
  // A resource that exceeds its kind's bound in any encoding is not parsed.
  const resource = Math.min(context.bounds.resource, kind ? SLACK * kind.bounds.bytes : Infinity);
  const bounds = { ...context.bounds, resource };
  for (const entry of response.entries) {
    const received = decodeEntry(response.kind, entry, dialect, bounds);
    const wireKey = formatWireKey(received.ok ? received.resource : received.fault);
    facts.set(wireKey, { version: received.version, bytes: entry.length });
    const arrival = received.ok
      ? evaluated(received.resource, kind, context)
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

/** A resource whose validation throws is rejected alone, as any other invalid one. */
function evaluated(
  wire: WireResource,
  kind: Kind | undefined,
  context: MessageContext,
): InboundItem<CopyPut> | Rejection {
  try {
    return toArrival(wire, kind, context);
  } catch (error) {
    return { wireKey: formatWireKey(wire), reason: `it cannot be judged: ${errorText(error)}` };
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
  // What no other zone and no resource of the global is ranked against keeps the order that its zone gives it.
  if (context.receiver.role !== 'global' || kind.sync.down === 'nothing') return { wireKey, id, content };
  return { wireKey, id, content: { ...content, orderFrom: context.isWhole(kind.name) ? 'now' : 'moment' } };
}

/** Validates what the row of the store will contain. */
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
  // Status is sent up, not down: a zone computes its own (docs/reference/kds-wire.md §4.2). The exception is a Zone, whose
  // status only the global writes: without one in the message the copy loses its status.
  const goes = context.receiver.role === 'global' ? status : isStatusSentDown(id.kind) ? (status ?? {}) : undefined;
  const statusPart = goes === undefined ? {} : { status: withOwnConditions(goes, held?.status) };
  // Resources that Kuma created have no age, whichever peer sends them (docs/design.md §4 Creation order).
  if (context.dialect.meta && facts.createdAt > 0) {
    const isRelayed = context.receiver.role === 'zone' && goes === undefined;
    const origin =
      isRelayed && held && context.hasSeen(key) ? unmovedOrigin(held, { labels, spec, facts }) : facts.origin;
    return { ...put, ...statusPart, copy: { ...facts, origin } };
  }
  const ages = countedHere({ labels, spec }, held, context.now());
  const generation = context.dialect.meta ? facts.generation : ages.generation;
  return { ...put, ...statusPart, copy: { ...facts, generation, createdAt: facts.createdAt || ages.createdAt } };
}

/**
 * The origin of a relayed copy. Where only the origin's status has changed, of which the copy has nothing, it stays as it is: a session
 * that resumes before such a change is sent it, and must not make a write of it. `held` must be what is stored: the store refuses
 * the origin of an older one.
 */
function unmovedOrigin(held: Resource, { labels, spec, facts }: Pick<Copy, 'labels' | 'spec' | 'facts'>): CopyOrigin {
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

/** Generation and age of a plain Kuma peer's resource, which the peer does not send. */
function countedHere(
  copy: Pick<Copy, 'labels' | 'spec'>,
  held: Resource | undefined,
  now: number,
): { readonly generation: number; readonly createdAt: number } {
  if (!held) return { generation: 1, createdAt: now };
  const same = jsonEqual(held.labels, copy.labels) && jsonEqual(held.spec, copy.spec);
  return { generation: same ? held.generation : held.generation + 1, createdAt: held.createdAt };
}

/** Decodes the resources of a response that is not stored, one a step. */
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
