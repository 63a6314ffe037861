import type { ResourceKey } from '@causeway/resources';
import { RoundRobinKeys } from './round-robin-keys';
import { Rejections, type Rejection } from './rejection';

/** State of one resource that a peer was last sent. */
export interface LastSent {
  /** Name on the wire, unique within a kind. */
  readonly wireKey: string;
  /** Equal versions mean equal content. */
  readonly version: string;
}

/** One resource, encoded and ready to be sent. */
export interface OutboundResource extends LastSent {
  /** Bytes on the wire. */
  readonly size: number;
}

/** Resources that the peer of one stream may receive now. */
export interface OutboundSource<S extends OutboundResource> {
  /** Returns identity keys of all resources of a kind that the peer may have. */
  keys(kind: string): Iterable<ResourceKey>;
  /** Returns a resource as it would be sent now; undefined if the peer may not have it or it does not exist. */
  get(key: ResourceKey): S | undefined;
  /** Returns identity keys of a kind that changed or were deleted after `revision` and that the peer may ever have had. */
  keysSince(kind: string, revision: number): Iterable<ResourceKey>;
  /** Revision of the index that the other methods read. */
  revision(): number;
  /** ms since 1970. */
  now(): number;
}

/** Limits of one message of a stream. */
export interface MessageLimits {
  /** Maximum sum of resource sizes in one message, bytes; a single resource may exceed it. */
  readonly bytes: number;
  /** Whether the peer supports a first state in chunks (cw-chunk); if not, it is one message of any size. */
  readonly chunked: boolean;
}

/**
 * Maximum number of resources, removals and deleted names in one message; a first state that must not be split may exceed it.
 */
export const MAX_MESSAGE_ITEMS = 10_000;

/** One response to the peer. */
export interface OutboundMessage<S extends OutboundResource> {
  readonly kind: string;
  readonly nonce: string;
  /** The revision of our store that the peer holds for this kind after this message; 0 if more messages must follow. */
  readonly revision: number;
  readonly put: readonly S[];
  /** Wire keys. */
  readonly removed: readonly string[];
  /** Identity keys of resources that the peer may hold from an earlier stream and must drop; only if `resumed`. */
  readonly gone: readonly ResourceKey[];
  /** `chunk` and `last-chunk` are parts of the first state, the second one completes it; `change` comes after it. */
  readonly part: 'chunk' | 'last-chunk' | 'change';
  /** The first state contains only changes since the peer's resume point: an unnamed resource is unchanged. */
  readonly resumed: boolean;
}

/** Progress of one kind on one stream. Revisions are of our store; 0 = nothing yet. Times are ms since 1970. */
export interface KindProgress {
  readonly offered: number;
  readonly acked: number;
  /** Resources sent since the stream began. */
  readonly sent: number;
  /** Resources rejected since the stream began. */
  readonly rejected: number;
  /** The first few resources that are rejected now. */
  readonly rejections: readonly Rejection[];
  /** Keys that wait to be sent or to be acknowledged. */
  readonly waiting: number;
  /** Time since which the peer has unacknowledged messages; undefined if it has none. */
  readonly behindSince?: number;
  /** Time of the last acknowledgement while the peer was behind; `behindSince` if there was none. */
  readonly movedAt?: number;
}

interface InFlightMessage {
  readonly nonce: string;
  readonly revision: number;
  readonly wireKeys: readonly string[];
}

/** A peer's request for a kind. */
export interface KindSubscription {
  readonly kind: string;
  /**
   * Revision of our store that the peer holds for this kind; only later changes are sent. Undefined: the full state.
   */
  readonly since: number | undefined;
}

/** One kind within an `Outbox`; the methods have the contracts of that class. */
export class OutboxKind<S extends OutboundResource> {
  /** Keys of the first state that are not sent yet; undefined once all of it is sent. */
  private first: ResourceKey[] | undefined;
  private readonly dirty = new RoundRobinKeys<LastSent | undefined>();
  private inFlight: InFlightMessage | undefined;
  private offered = 0;
  private acked = 0;
  private sent = 0;
  private readonly rejections = new Rejections();
  private behindSince: number | undefined;
  private movedAt: number | undefined;
  private started = false;
  private bookmarkDue = false;

  constructor(
    private readonly subscription: KindSubscription,
    private readonly source: OutboundSource<S>,
    private readonly limits: MessageLimits,
  ) {}

  mark(key: ResourceKey, was: LastSent | undefined): void {
    // Nothing was sent before the first state starts, and it contains the latest value of every key.
    if (!this.started || this.dirty.has(key)) return;
    this.markBehind();
    this.dirty.set(key, was && { wireKey: was.wireKey, version: was.version });
  }

  requestBookmark(): void {
    this.bookmarkDue = this.started;
  }

  acknowledge(nonce: string, rejected: readonly Rejection[]): boolean {
    if (this.inFlight?.nonce !== nonce) return false;
    this.acked = this.inFlight.revision || this.acked;
    this.rejections.recordAnswer(this.inFlight.wireKeys, rejected);
    this.inFlight = undefined;
    this.movedAt = this.source.now();
    this.markCaughtUp();
    return true;
  }

  take(nonce: string): OutboundMessage<S> | undefined {
    if (this.inFlight) return undefined;
    if (!this.started) this.start();
    const message = this.first ? this.takeFirst(nonce, this.first) : this.takeChanges(nonce);
    if (!message) {
      this.markCaughtUp();
      return undefined;
    }
    this.offered = message.revision || this.offered;
    this.sent += message.put.length;
    this.bookmarkDue = false;
    const { revision, put, removed, gone } = message;
    this.inFlight = { nonce, revision, wireKeys: [...put.map((item) => item.wireKey), ...removed, ...gone] };
    this.markBehind();
    return message;
  }

  progress(): KindProgress {
    const { offered, acked, sent, behindSince, movedAt } = this;
    const waiting = this.dirty.size + (this.first?.length ?? 0) + (this.inFlight?.wireKeys.length ?? 0);
    const progress = {
      offered,
      acked,
      sent,
      waiting,
      rejected: this.rejections.total,
      rejections: this.rejections.current(),
    };
    return behindSince === undefined ? progress : { ...progress, behindSince, movedAt: movedAt ?? behindSince };
  }

  private markBehind(): void {
    if (this.behindSince !== undefined) return;
    this.behindSince = this.source.now();
    this.movedAt = undefined;
  }

  private markCaughtUp(): void {
    if (!this.inFlight && !this.first && this.dirty.size === 0) this.behindSince = undefined;
  }

  private start(): void {
    const { kind, since } = this.subscription;
    this.started = true;
    this.markBehind();
    const keys = since === undefined ? this.source.keys(kind) : this.source.keysSince(kind, since);
    // Reversed, so that taking from the end keeps the order of the index.
    this.first = [...keys].reverse();
  }

  private takeFirst(nonce: string, keys: ResourceKey[]): OutboundMessage<S> {
    const put: S[] = [];
    const gone: ResourceKey[] = [];
    const resumed = this.subscription.since !== undefined;
    let size = 0;
    for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
      const item = this.source.get(key);
      const cost = item?.size ?? (resumed ? key.length : 0);
      if (this.limits.chunked && this.isFull(put.length + gone.length, size + cost)) {
        keys.push(key);
        break;
      }
      this.dirty.delete(key);
      if (item) put.push(item);
      else if (resumed) gone.push(key);
      size += cost;
    }
    const complete = keys.length === 0;
    if (complete) this.first = undefined;
    return { ...this.message(nonce), put, gone, resumed, part: complete ? 'last-chunk' : 'chunk' };
  }

  private takeChanges(nonce: string): OutboundMessage<S> | undefined {
    const put: S[] = [];
    const removed: string[] = [];
    let size = 0;
    for (const [key, was] of this.dirty) {
      const now = this.source.get(key);
      if (this.isFull(put.length + removed.length, size + (now?.size ?? 0))) break;
      this.dirty.delete(key);
      if (now?.version === was?.version && now?.wireKey === was?.wireKey) continue;
      if (was && was.wireKey !== now?.wireKey) {
        removed.push(was.wireKey);
        size += was.wireKey.length;
      }
      if (!now) continue;
      put.push(now);
      size += now.size;
    }
    if (put.length + removed.length === 0 && !this.bookmarkDue) return undefined;
    return { ...this.message(nonce), put, removed };
  }

  /** Returns whether a message with this many items has no room for the next one, which would make it `size` bytes. */
  private isFull(items: number, size: number): boolean {
    return items > 0 && (items >= MAX_MESSAGE_ITEMS || size > this.limits.bytes);
  }

  private message(nonce: string): OutboundMessage<S> {
    const { kind } = this.subscription;
    return {
      kind,
      nonce,
      revision: this.ackRevision(),
      put: [],
      removed: [],
      gone: [],
      part: 'change',
      resumed: false,
    };
  }

  /** 0 while keys are dirty: the peer has reached a revision only when it has all changes up to it. */
  private ackRevision(): number {
    return this.first || this.dirty.size > 0 ? 0 : this.source.revision();
  }
}
