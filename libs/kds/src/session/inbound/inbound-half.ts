import type { SealingKeys } from '@causeway/identity';
import type { Identity } from '@causeway/resources';
import { RateLimitedLogger, type Logger } from '@causeway/runtime';
import { Inbox, isOwnedByStream, type InboundMessage, type Receiver } from '@causeway/sync';
import type { KumaIncarnation } from '../kuma-incarnation';
import { BoundsExceeded, CHUNKED_BOUNDS, KUMA_BOUNDS, type ResponseBounds } from '../../wire/bounds';
import { computeDialect, Extension } from '../../wire/dialect';
import { NODE_FEATURES, type NodeMetadata } from '../../wire/node';
import { encodeRequest } from '../../wire/request';
import { MalformedMessage, openResponse, type IncomingResponse, type OpenedResponse } from '../../wire/response';
import { formatWireKey, getWireKey } from '../../wire/wire-resource';
import { endOnStoreFailure } from '../end-unstored';
import type { KindReport } from '../kind-report';
import { MAX_UNKNOWN_KINDS, SubscribedKinds } from '../peer-limits';
import { GLOBAL_PEER, type PeerState, type ResumePoint } from '../peer-state';
import type { PeerStream } from '../peer-stream';
import type { Direction, Session, SessionHalf } from '../session';
import { listReceivedKinds, findSyncedKind } from '../synced-kinds';
import { AckWriter } from './ack-writer';
import type { FencedWrite } from './batch-writer';
import { decodeEntries, decodeMessage, type CopyPut, type MessageContext } from './decode-message';
import { InboundApplier } from './inbound-applier';
import { InboundShare, type InboundChannel } from './inbound-capacity';
import { ReceivedKinds } from './received-kinds';

/** Dependencies of the inbound half of a session, besides the session. */
export interface InboundHalfOptions {
  readonly stream: PeerStream;
  readonly channel: InboundChannel;
  /** Stored state of the peer. */
  readonly peerState: PeerState;
  /** Writes with the fence of this session or term. */
  readonly write: FencedWrite;
  /** Node metadata that this control plane sends with each subscription. */
  readonly node: Omit<NodeMetadata, 'features'>;
  /** Time for which deletions are held back after the peer begins a new incarnation, ms. */
  readonly hold: number;
  /** Incarnation of a plain Kuma peer; absent for Causeway peers. */
  readonly kuma?: KumaIncarnation;
  /** Handler of a kind that is not stored, such as a Kuma global's Config; its messages are acknowledged. */
  readonly outOfBand?: { readonly kind: string; take(response: IncomingResponse): void };
  /** See MessageContext. */
  readonly refusal?: (id: Identity) => string | undefined;
  /** See MessageContext. */
  readonly sealing?: SealingKeys;
  /** Called after each message of a kind whose full state is stored. */
  readonly onComplete?: (kind: string) => void;
  /** Called for each written change, once it is durable, with the time since its origin committed it, ms. */
  readonly onPropagated?: (kind: string, age: number) => void;
}

/** Position up to which the state of a peer is stored here. */
export interface StoredPosition {
  /** Incarnation of the peer's store. */
  readonly incarnation: string;
  readonly revision: number;
  /** Revision of this store: a reader that has seen it has seen that state. */
  readonly stored: number;
}

/** Maximum number of resources of one kind that a peer may have. */
const MAX_IDENTITIES = 200_000;
/** A first state that takes longer than this counts as complete, ms: a zone that never completes it gains no older creation orders. */
const FIRST_STATE_LIMIT = 600_000;
/** Maximum number of MeshTrusts of a zone: the certificates of each are parsed and sent to all proxies. */
const MAX_TRUSTS_OF_ZONE = 4_096;

/**
 * The receiving half of a session: subscribes to every kind that the peer may send, applies the responses one by one, and
 * acknowledges each once its changes are durable. If the peer does not read the answers, its messages are not read either.
 */
export class InboundHalf implements SessionHalf {
  readonly unanswered = 0;
  readonly blockedSince = undefined;
  private readonly inbox: Inbox<CopyPut>;
  private readonly kinds: SubscribedKinds;
  private readonly share: InboundShare;
  private readonly applier: InboundApplier;
  private readonly context: MessageContext & { readonly bounds: ResponseBounds };
  private readonly logger: Logger;
  private readonly received: ReceivedKinds;
  private readonly acks: AckWriter;
  private readonly opened: Promise<void>;
  private begin: () => void = () => undefined;
  private working: Promise<void> = Promise.resolve();
  /** Kinds with a subscription: their resources are accepted on this stream even if their definition is deleted. */
  private readonly subscribed = new Set<string>();
  private unfollow: () => void = () => undefined;
  private readonly positions = new Map<string, StoredPosition>();
  private closed = false;
  private openedAt = Infinity;
  /** A message could not be stored; the later ones are ignored. */
  private isBroken = false;

  constructor(
    private readonly session: Session,
    private readonly options: InboundHalfOptions,
  ) {
    const { role, zone, index, registry, clock, extensions } = session;
    const { channel, write, refusal, sealing } = options;
    const receiver: Receiver = role === 'global' ? { role, from: zone } : { role, zone };
    this.logger = RateLimitedLogger.of(session.logger.child({ stream: getDirection(session) }), clock);
    this.opened = new Promise((resolve) => (this.begin = resolve));
    this.inbox = new Inbox((kind) => this.listCopies(kind));
    this.kinds = new SubscribedKinds(registry);
    this.received = new ReceivedKinds({ registry, clock });
    this.acks = new AckWriter({ session, stream: options.stream, logger: this.logger });
    this.share = new InboundShare({ peer: role === 'global' ? zone : GLOBAL_PEER, index, channel });
    this.context = {
      receiver,
      index,
      findKind: (name) =>
        registry.kind(name) ?? (this.subscribed.has(name) ? findSyncedKind(registry, name) : undefined),
      hasSeen: (key) => this.share.hasSeen(key),
      dialect: computeDialect(extensions),
      isWhole: (kind) => this.isWhole(kind),
      now: () => clock.now(),
      bounds: extensions.includes(Extension.chunk) ? CHUNKED_BOUNDS : KUMA_BOUNDS,
      ...(refusal ? { refusal } : {}),
      ...(sealing ? { sealing } : {}),
    };
    const { peerState, hold, kuma } = options;
    this.applier = new InboundApplier({
      peerState,
      index,
      receiver,
      hold,
      clock,
      logger: this.logger,
      tracer: session.tracer,
      write: (changes, entries) => this.share.write(changes, () => write(changes, entries)),
      isShared: () => this.share.isShared,
      sendsOrders: extensions.includes(Extension.order),
      ...(kuma ? { kuma } : {}),
    });
  }

  message(bytes: Buffer): Promise<void> {
    this.working = this.opened.then(() => this.take(bytes)).catch((error: unknown) => this.failed(error));
    return this.working;
  }

  drain(): void {
    this.acks.drain();
  }

  /** Starts to process messages and sends the subscriptions. */
  open(): void {
    this.begin();
    if (this.closed) return; // the stream ended meanwhile
    const { index, registry, clock } = this.session;
    this.openedAt = clock.now();
    this.subscribe();
    let known = registry.version;
    // Kinds declared later are subscribed to on the open stream.
    this.unfollow = index.subscribe(() => {
      if (registry.version === known) return;
      known = registry.version;
      this.subscribe();
    });
  }

  private subscribe(): void {
    if (this.closed) return;
    const { zone } = this.session;
    const metadata = { ...this.options.node, features: NODE_FEATURES };
    for (const kind of this.subscribedKinds()) {
      if (this.subscribed.has(kind)) continue;
      this.subscribed.add(kind);
      this.options.stream.write(encodeRequest({ type: 'subscribe', kind, zone, metadata, held: {} }));
    }
  }

  /** Returns whether the full state of a kind is stored. */
  isComplete(kind: string): boolean {
    return this.inbox.isComplete(kind);
  }

  /** Returns the subscribed kinds whose full state is not held yet; undefined before the subscription, and once a message is lost. */
  incompleteKinds(): readonly string[] | undefined {
    if (this.subscribed.size === 0 || this.isBroken) return undefined;
    return [...this.subscribed].filter((kind) => !this.isWhole(kind));
  }

  private isWhole(kind: string): boolean {
    return this.inbox.isComplete(kind) || this.session.clock.now() - this.openedAt > FIRST_STATE_LIMIT;
  }

  /** Returns the position up to which the peer's state of a kind is fully stored; undefined if the peer has named none in this session. */
  findPosition(kind: string): StoredPosition | undefined {
    return this.positions.get(kind);
  }

  reports(): readonly KindReport[] {
    return this.received.reports(getDirection(this.session), (kind) => this.applier.pendingDeletion.countKind(kind));
  }

  /** Stops processing messages; resolves when no write is under way. */
  async close(): Promise<void> {
    this.closed = true;
    this.begin(); // what waits for it is not taken
    this.unfollow();
    this.acks.close();
    await Promise.all([this.applier.close(), this.working]);
  }

  /** The out-of-band kind comes first: it names the incarnation of the state that follows. */
  private subscribedKinds(): readonly string[] {
    const { session, options } = this;
    const kinds = listReceivedKinds(session);
    return options.outOfBand ? [options.outOfBand.kind, ...kinds] : kinds;
  }

  private async take(bytes: Buffer): Promise<void> {
    if (this.closed) return;
    const response = openResponse(bytes, this.context.bounds);
    const { kind } = response;
    if (kind === this.options.outOfBand?.kind) return this.takeOutOfBand(response);
    const named = this.subscribed.has(kind) ? 'known' : this.kinds.classify(kind);
    if (named === 'too-many') throw new BoundsExceeded(`more than ${MAX_UNKNOWN_KINDS} kinds that are not known here`);
    if (named !== 'known') return this.refuseKind(response, named === 'first');
    await this.takeState(response);
  }

  private async takeOutOfBand(response: OpenedResponse): Promise<void> {
    const resources = await this.share.compute(decodeEntries(response, this.context));
    if (this.closed) return;
    const { entries: _, ...head } = response;
    this.options.outOfBand?.take({ ...head, resources });
    await this.acks.ack(response);
  }

  /** Rejects a message of an unknown kind without decoding its content. */
  private async refuseKind(response: OpenedResponse, first: boolean): Promise<void> {
    const { kind, entries } = response;
    const rejected = entries.length === 0 ? [] : [{ wireKey: '', reason: `kind ${kind} is not known here` }];
    if (first) this.logger.warn('the peer sends a kind that is not known here', { kind });
    this.received.advance(response, [], rejected);
    await this.acks.answerKind(response, rejected);
  }

  private async takeState(response: OpenedResponse): Promise<void> {
    const { share, inbox } = this;
    const { kind } = response;
    const received = await share.compute(decodeMessage(response, this.context));
    if (this.closed) return;
    const { message, facts } = received;
    // A full first state brings changes of any age.
    const isNews = message.resumed || inbox.isComplete(kind);
    const changes = await share.compute(inbox.steps(message));
    this.checkSize(kind);
    if (this.closed) return;
    const countBytes = (wireKey: string): number => facts.get(wireKey)?.bytes ?? 0;
    const { refused, written, raised } = await this.applier.apply(kind, changes, findPoint(response), countBytes);
    const rejected = [...changes.rejected, ...refused];
    this.received.advance(response, wireKeysIn(message), rejected);
    this.reach(response);
    const answered = this.acks.answer(response, received, { rejected, raised });
    if (inbox.isComplete(kind)) this.options.onComplete?.(kind);
    if (isNews) this.reportAges(kind, written);
    await answered;
  }

  private reach({ kind, position }: OpenedResponse): void {
    if (!position || position.revision === 0) return;
    const { incarnation, revision } = position;
    this.positions.set(kind, { incarnation, revision, stored: this.share.reached });
  }

  private checkSize(kind: string): void {
    const size = this.inbox.countKind(kind);
    const most = kind === 'MeshTrust' && this.session.role === 'global' ? MAX_TRUSTS_OF_ZONE : MAX_IDENTITIES;
    if (size > most) {
      throw new BoundsExceeded(`the peer names ${size} resources of kind ${kind}; at most ${most} are taken`);
    }
  }

  /** The clocks of the origin's database and of this process differ, so a negative age counts as 0. */
  private reportAges(kind: string, written: readonly CopyPut[]): void {
    const { onPropagated } = this.options;
    const now = this.session.clock.now();
    for (const { copy } of written) {
      // Plain Kuma peers do not send the commit time.
      if (copy.origin.committedAt > 0) onPropagated?.(kind, Math.max(0, now - copy.origin.committedAt));
    }
  }

  private *listCopies(kindName: string): Iterable<{ readonly wireKey: string; readonly id: Identity }> {
    const { index, receiver } = this.context;
    for (const resource of index.ofKind(kindName)) {
      if (!isOwnedByStream(resource, receiver)) continue;
      // A copy keeps the labels that its wire key is derived from.
      yield { wireKey: formatWireKey(getWireKey(resource)), id: resource.id };
    }
  }

  private failed(error: unknown): void {
    if (this.closed) return;
    // Applying later messages would leave a gap: the next stream begins with the full state.
    this.closed = this.isBroken = true;
    this.acks.close();
    if (error instanceof BoundsExceeded) return this.options.stream.end('exhausted', error.message);
    if (error instanceof MalformedMessage) return this.options.stream.end('malformed', error.message);
    endOnStoreFailure({ stream: this.options.stream, logger: this.logger }, 'state of the peer', error);
  }
}

/** The global receives upwards, a zone downwards. */
function getDirection({ role }: Session): Direction {
  return role === 'global' ? 'up' : 'down';
}

function findPoint({ position }: OpenedResponse): ResumePoint | undefined {
  if (!position) return undefined;
  const { incarnation, revision, view, mac } = position;
  return { incarnation, revision, view, ...(mac === undefined ? {} : { mac }) };
}

function wireKeysIn({ items, removed }: InboundMessage<CopyPut>): readonly string[] {
  return [...items.map(({ wireKey }) => wireKey), ...removed];
}
