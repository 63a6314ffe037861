import { crossesZones, parseIdentityKey, type ResourceKey } from '@causeway/resources';
import { BusyPacer, RateLimitedLogger, type Logger, type Timer } from '@causeway/runtime';
import {
  Outbox,
  type LastSent,
  type MessageLimits,
  type OutboundMessage,
  type OutboundSource,
  type Rejection,
} from '@causeway/sync';
import { BoundsExceeded } from '../../wire/bounds';
import { Extension } from '../../wire/dialect';
import { CHUNK_BYTES, KUMA_MESSAGE_BYTES } from '../../wire/kds-service';
import type { NodeMetadata } from '../../wire/node';
import { decodeRequest, type CountedOrder, type WireRequest } from '../../wire/request';
import { encodeResponse, type StatePosition } from '../../wire/response';
import { formatWireKey, parseWireKey } from '../../wire/wire-resource';
import type { KindReport } from '../kind-report';
import { MAX_UNKNOWN_KINDS, sanitizePeerText, toRejectionFields, SubscribedKinds } from '../peer-limits';
import type { ResumePoint } from '../peer-state';
import type { PeerStream } from '../peer-stream';
import type { ResumePointSigner } from '../resume-points';
import type { Direction, Session, SessionHalf } from '../session';
import { traceSentResources } from '../session-traces';
import type { CompressedStates } from './compressed-states';
import type { OutboundItem } from './peer-index-view';

/** Dependencies of the outbound half of a session, besides the session. */
export interface OutboundHalfOptions {
  readonly stream: PeerStream;
  readonly source: OutboundSource<OutboundItem>;
  /** The resume points of this store that the peer presented in its handshake. */
  readonly resumePoints: ReadonlyMap<string, ResumePoint>;
  readonly signer: ResumePointSigner;
  /** Returns the hash of the rules that select which resources of a kind the peer gets. */
  readonly viewHash: (kind: string) => string;
  /** Called with the metadata of the peer's node, if a subscription has them. */
  readonly onNodeMetadata?: (metadata: NodeMetadata) => void;
  /** Returns whether a subscribed kind must wait for now; call `resume` when it may be sent. */
  readonly isExcluded?: (kind: string) => boolean;
  readonly orders?: CountedOrderSink;
  /** Compresses first states for all peers that read gzip. */
  readonly compressed?: CompressedStates;
}

/** Receives the creation orders that count for resources that were sent with other ones (cw-order). */
export interface CountedOrderSink {
  take(kind: string, orders: readonly CountedOrder[]): void;
  /** Resolves when no write of them is under way. */
  settled(): Promise<void>;
}

/** Maximum unacknowledged bytes, in addition to one message; a plain Kuma peer gets all resources of a kind in one message. */
const MAX_UNANSWERED = { chunked: 1024 * 1024, plain: 16 * 1024 * 1024 } as const;

/** Under continuous changes, the peer gets a message every 20 ms. The burst admits a first state of all kinds. */
const PACE = { burst: 64, interval: 20 };
/**
 * Delay of changes of a zone that only the global sees (Dataplanes and the like), ms: the global stores the messages of
 * a stream one by one, and the services that all other zones wait for follow from the same changes a moment later.
 */
const LOCAL_KINDS_DELAY = 50;
/** Number of resources that is worth a message of its own. */
const LARGE_MESSAGE = 100;

const NO_POINTS: ReadonlyMap<string, ResumePoint> = new Map();

/**
 * The sending half of a session: answers the peer's subscriptions with the state that the peer may see and with every
 * change of it, as fast as the peer reads and acknowledges. Sends nothing before `open`.
 */
export class OutboundHalf implements SessionHalf {
  private readonly outbox: Outbox<OutboundItem>;
  private readonly limits: MessageLimits;
  private readonly resumePoints: ReadonlyMap<string, ResumePoint>;
  private readonly logger: Logger;
  private readonly kinds: SubscribedKinds;
  private opened = false;
  private closed = false;
  private compactionRevision = Infinity;
  /** Subscribed kinds that must wait. */
  private readonly early = new Set<string>();
  /** Since when the peer reads nothing although its buffers are full; undefined while it reads. */
  private fullSince: number | undefined;
  /** Bytes of the unacknowledged messages, by nonce. */
  private readonly inFlight = new Map<string, number>();
  private unansweredBytes = 0;
  private readonly pacer: BusyPacer;
  /** The pause until the next message of a busy stream. */
  private pause: Timer | undefined;
  /** Changed kinds that only the peer sees and that wait for `LOCAL_KINDS_DELAY`. */
  private readonly waiting = new Set<string>();
  private wait: Timer | undefined;

  constructor(
    private readonly session: Session,
    private readonly options: OutboundHalfOptions,
  ) {
    const { extensions, registry, clock } = session;
    const chunked = extensions.includes(Extension.chunk);
    this.limits = { chunked, bytes: chunked ? CHUNK_BYTES : KUMA_MESSAGE_BYTES };
    this.resumePoints = extensions.includes(Extension.resume) ? options.resumePoints : NO_POINTS;
    this.logger = RateLimitedLogger.of(session.logger.child({ stream: getDirection(session) }), clock);
    this.kinds = new SubscribedKinds(registry);
    this.outbox = new Outbox(options.source, this.limits);
    this.pacer = new BusyPacer(clock, PACE);
  }

  open(compactionRevision: number): void {
    if (this.closed) return; // the stream ended meanwhile
    this.compactionRevision = compactionRevision;
    this.opened = true;
    this.resume();
  }

  /** Sends subscribed kinds that no longer have to wait. */
  resume(): void {
    const kinds = [...this.early];
    this.early.clear();
    for (const kind of kinds) this.subscribe(kind);
    this.pump();
  }

  message(bytes: Buffer): void {
    const request = this.decode(bytes);
    if (!request) return;
    if (request.type === 'subscribe') {
      if (this.kinds.classify(request.kind) === 'too-many') {
        return this.options.stream.end('exhausted', `more than ${MAX_UNKNOWN_KINDS} kinds that are not known here`);
      }
      if (request.metadata) this.options.onNodeMetadata?.(request.metadata);
      this.subscribe(request.kind);
    } else {
      this.answered(request);
    }
    this.pump();
  }

  drain(): void {
    this.fullSince = undefined;
    this.pump();
  }

  get unanswered(): number {
    return this.unansweredBytes;
  }

  get blockedSince(): number | undefined {
    return this.fullSince;
  }

  /** Marks a resource that may differ from what was last sent, which `was` returns; call `pump` afterwards. */
  mark(kind: string, key: ResourceKey, was: () => LastSent | undefined): void {
    if (!this.outbox.isSubscribed(kind)) return;
    this.outbox.mark(kind, key, was());
    if (!this.isUrgent(kind)) this.waitWith(kind);
  }

  /** Sends a Causeway peer the position of a kind even if nothing changed, so that the peer can resume from it. */
  requestBookmark(kind: string): void {
    if (this.session.causeway) this.outbox.requestBookmark(kind);
  }

  /** Sends all messages that may be sent now. */
  pump(): void {
    const most = this.limits.chunked ? MAX_UNANSWERED.chunked : MAX_UNANSWERED.plain;
    while (this.opened && !this.pause && this.fullSince === undefined && this.unansweredBytes < most) {
      const message = this.outbox.take(this.waiting);
      if (!message) {
        if (this.inFlight.size === 0) this.pacer.rest();
        return;
      }
      this.pacer.begin();
      if (!this.send(message)) this.fullSince = this.session.clock.now();
      if (this.session.tracer?.isOn === true) traceSentResources(this.session, message);
      if (message.put.length < LARGE_MESSAGE && this.pacer.delay > 0) this.pauseFor(this.pacer.delay);
    }
  }

  /** Returns whether other zones may get this kind. */
  private isUrgent(kindName: string): boolean {
    const { role, registry } = this.session;
    const kind = registry.kind(kindName);
    return role === 'global' || kind === undefined || crossesZones(kind.sync);
  }

  private waitWith(kind: string): void {
    this.waiting.add(kind);
    this.wait ??= this.session.clock.after(LOCAL_KINDS_DELAY, () => {
      this.wait = undefined;
      this.waiting.clear();
      this.pump();
    });
  }

  private pauseFor(ms: number): void {
    this.pause = this.session.clock.after(ms, () => {
      this.pause = undefined;
      this.pump();
    });
  }

  reports(): readonly KindReport[] {
    const direction = getDirection(this.session);
    return [...this.outbox.progress()].map(([kind, progress]) => ({ ...progress, kind, direction, held: 0 }));
  }

  /** Nothing is written outside `message` and `pump`. */
  close(): Promise<void> {
    this.opened = false;
    this.closed = true;
    this.pause?.cancel();
    this.wait?.cancel();
    return this.options.orders?.settled() ?? Promise.resolve();
  }

  private get incarnation(): string {
    return this.session.index.point?.incarnation ?? '';
  }

  /** Returns the revision up to which the peer holds a kind under the current rules; undefined if it needs the full state. */
  private resumableFrom(kind: string): number | undefined {
    const point = this.resumePoints.get(kind);
    if (!this.session.causeway || point?.incarnation !== this.incarnation) return undefined;
    if (point.revision < Math.max(this.compactionRevision, this.session.index.compactionRevision)) return undefined;
    return point.view === this.options.viewHash(kind) ? point.revision : undefined;
  }

  private subscribe(kind: string): void {
    if (!this.opened || this.options.isExcluded?.(kind) === true) this.early.add(kind);
    else this.outbox.subscribe(kind, this.resumableFrom(kind));
  }

  private decode(bytes: Buffer): WireRequest | undefined {
    const { stream } = this.options;
    const { zone } = this.session;
    try {
      const request = decodeRequest(bytes);
      if (request.zone === zone) return request;
      stream.end('refused', `node is "${sanitizePeerText(request.zone, 253)}" on a stream of zone "${zone}"`);
    } catch (error) {
      if (error instanceof BoundsExceeded) stream.end('exhausted', error.message);
      else stream.end('malformed', `request cannot be read: ${String(error)}`);
    }
    return undefined;
  }

  private answered(request: Exclude<WireRequest, { type: 'subscribe' }>): void {
    const { kind, nonce } = request;
    const rejected = listRejections(request);
    // Answers without a message in flight are not logged: a peer may send any number of them.
    if (!this.outbox.acknowledge(kind, nonce, rejected)) return;
    this.unansweredBytes -= this.inFlight.get(nonce) ?? 0;
    this.inFlight.delete(nonce);
    if (request.orders) this.options.orders?.take(kind, request.orders);
    if (request.type === 'nack') {
      const fields = toRejectionFields(rejected, (wireKey) => wireKey);
      this.logger.warn('the peer rejected resources', { kind, reason: sanitizePeerText(request.message), ...fields });
    }
  }

  /** Sends a message; a first state as what all zones with the same state share, and the rest. Returns false if the peer reads too slowly. */
  private send(message: OutboundMessage<OutboundItem>): boolean {
    const { stream, compressed } = this.options;
    const rest = {
      kind: message.kind,
      nonce: message.nonce,
      controlPlane: this.session.role === 'global' ? 'global' : this.session.zone,
      removed: message.removed.map(parseWireKey),
      ...this.position(message),
    };
    const members = stream.writeCompressed && compressed?.members(message.parts, rest);
    if (stream.writeCompressed && members) {
      this.count(
        message.nonce,
        members.reduce((sum, { length }) => sum + length, 0),
      );
      return stream.writeCompressed(members);
    }
    const bytes = encodeResponse({ ...rest, resources: message.put.map((item) => item.encoded) });
    this.count(message.nonce, bytes.length);
    return stream.write(bytes);
  }

  private count(nonce: string, bytes: number): void {
    this.inFlight.set(nonce, bytes);
    this.unansweredBytes += bytes;
  }

  private position(message: OutboundMessage<OutboundItem>): { readonly position?: StatePosition } {
    if (!this.session.causeway) return {};
    const { kind, revision, part, resumed } = message;
    const gone = message.gone.map(parseIdentityKey);
    const point = { incarnation: this.incarnation, revision, view: this.options.viewHash(kind) };
    const position = {
      ...point,
      ...(revision === 0 ? {} : { mac: this.options.signer.mac(kind, point) }),
      more: part === 'chunk',
      resumed,
      gone,
    };
    return { position };
  }
}

/** The global sends downwards, a zone upwards. */
function getDirection({ role }: Session): Direction {
  return role === 'global' ? 'down' : 'up';
}

/** A peer without the extension cw-result lists its rejections in one text. */
function listRejections(request: Exclude<WireRequest, { type: 'subscribe' }>): readonly Rejection[] {
  const results = request.results.filter((result) => result.outcome === 'rejected');
  if (results.length > 0) return results.map((result) => ({ wireKey: formatWireKey(result), reason: result.reason }));
  return request.type === 'nack' ? [{ wireKey: '', reason: request.message }] : [];
}
