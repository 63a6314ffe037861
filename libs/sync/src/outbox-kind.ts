import { RoundRobinKeys } from './round-robin-keys';
import type { MessageLimits, OutboundSource, OutboundResource, LastSent } from './outbound';
import { Rejections, type Rejection } from './rejection';

/** Most resources, removals and names in one message, but for a first state that must go whole. */
export const MAX_MESSAGE_ITEMS = 10_000;

/** One response to the peer. */
export interface OutboundMessage<S extends OutboundResource> {
  readonly kind: string;
  readonly nonce: string;
  /** Revision of our store up to which the peer knows this kind with this message; 0 when more of it must follow. */
  readonly revision: number;
  readonly put: readonly S[];
  /** Wire keys. */
  readonly removed: readonly string[];
  /** Identity keys of what the peer may hold from before and may hold no longer; only where `resumed`. */
  readonly gone: readonly string[];
  /** Part of a first state: `whole` ends it, `piece` does not; `change` is neither. */
  readonly part: 'whole' | 'piece' | 'change';
  /** The first state is only what changed since what the peer holds: nothing is absent. */
  readonly resumed: boolean;
}

/** How far one kind of one stream is. Revisions are of our store; 0 = nothing yet. Times are ms since 1970. */
export interface KindProgress {
  readonly offered: number;
  readonly acked: number;
  /** Resources sent since the stream began. */
  readonly sent: number;
  /** Resources rejected since the stream began. */
  readonly rejected: number;
  /** What stands rejected, the first few. */
  readonly rejections: readonly Rejection[];
  /** Keys that wait to be told or to be answered. */
  readonly waiting: number;
  /** Since when there is something the peer has not taken in; undefined when there is nothing. */
  readonly behindSince?: number;
  /** When the peer last answered while it was behind, or since when it is. */
  readonly lastAnswerAt?: number;
}

interface InFlightMessage {
  readonly nonce: string;
  readonly revision: number;
  readonly wireKeys: readonly string[];
}

/** What a peer asked for. */
export interface KindSubscription {
  readonly kind: string;
  /** The revision of our store that the peer holds this kind of; it needs only what changed since. */
  readonly since: number | undefined;
}

/** One kind within an outbox. */
export class OutboxKind<S extends OutboundResource> {
  /** Keys of the first state that have not left; undefined once it has left whole. */
  private first: string[] | undefined;
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

  mark(key: string, was: LastSent | undefined): void {
    // Before the first state has begun nothing was told: it will carry the latest of everything.
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
    const figures = {
      offered,
      acked,
      sent,
      waiting,
      rejected: this.rejections.total,
      rejections: this.rejections.current(),
    };
    return behindSince === undefined ? figures : { ...figures, behindSince, lastAnswerAt: movedAt ?? behindSince };
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

  private takeFirst(nonce: string, keys: string[]): OutboundMessage<S> {
    const put: S[] = [];
    const gone: string[] = [];
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
    const whole = keys.length === 0;
    if (whole) this.first = undefined;
    return { ...this.message(nonce), put, gone, resumed, part: whole ? 'whole' : 'piece' };
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

  /** Whether a message of so many items cannot take the one that would make it this large. */
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

  /** What is still dirty belongs to the newest revision and to the newest rules as well: no point is reached before. */
  private ackRevision(): number {
    return this.first || this.dirty.size > 0 ? 0 : this.source.revision();
  }
}
