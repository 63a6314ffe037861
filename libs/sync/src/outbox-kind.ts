import { FairKeys } from './fair-keys';
import type { MessageLimits, Offer, Sendable, Told } from './offer';
import { Rejections, type Rejection } from './rejection';

/** Most resources, removals and names in one message, but for a first state that must go whole. */
export const MOST_ITEMS = 10_000;

/** One response to the peer. */
export interface Message<S extends Sendable> {
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
export interface KindFigures {
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
  readonly movedAt?: number;
}

interface Flight {
  readonly nonce: string;
  readonly revision: number;
  readonly wireKeys: readonly string[];
}

/** What a peer asked for. */
export interface Subscription {
  readonly kind: string;
  /** The revision of our store that the peer holds this kind of; it needs only what changed since. */
  readonly since: number | undefined;
}

/** One kind within an outbox. */
export class OutboxKind<S extends Sendable> {
  /** Keys of the first state that have not left; undefined once it has left whole. */
  private first: string[] | undefined;
  private readonly dirty = new FairKeys<Told | undefined>();
  private flight: Flight | undefined;
  private offered = 0;
  private acked = 0;
  private sent = 0;
  private readonly rejections = new Rejections();
  private behindSince: number | undefined;
  private movedAt: number | undefined;
  private begun = false;

  private restless = false;

  constructor(
    private readonly asked: Subscription,
    private readonly offer: Offer<S>,
    private readonly limits: MessageLimits,
  ) {}

  mark(key: string, was: Told | undefined): void {
    // Before the first state has begun nothing was told: it will carry the latest of everything.
    if (!this.begun || this.dirty.has(key)) return;
    this.fallBehind();
    this.dirty.set(key, was && { wireKey: was.wireKey, version: was.version });
  }

  touch(): void {
    this.restless = this.begun;
  }

  answer(nonce: string, rejected: readonly Rejection[]): boolean {
    if (this.flight?.nonce !== nonce) return false;
    this.acked = this.flight.revision || this.acked;
    this.rejections.answered(this.flight.wireKeys, rejected);
    this.flight = undefined;
    this.movedAt = this.offer.now();
    this.catchUp();
    return true;
  }

  take(nonce: string): Message<S> | undefined {
    if (this.flight) return undefined;
    if (!this.begun) this.begin();
    const message = this.first ? this.takeFirst(nonce, this.first) : this.takeChanges(nonce);
    if (!message) {
      this.catchUp();
      return undefined;
    }
    this.offered = message.revision || this.offered;
    this.sent += message.put.length;
    this.restless = false;
    const { revision, put, removed, gone } = message;
    this.flight = { nonce, revision, wireKeys: [...put.map((item) => item.wireKey), ...removed, ...gone] };
    this.fallBehind();
    return message;
  }

  figures(): KindFigures {
    const { offered, acked, sent, behindSince, movedAt } = this;
    const waiting = this.dirty.size + (this.first?.length ?? 0) + (this.flight?.wireKeys.length ?? 0);
    const figures = {
      offered,
      acked,
      sent,
      waiting,
      rejected: this.rejections.total,
      rejections: this.rejections.standing(),
    };
    return behindSince === undefined ? figures : { ...figures, behindSince, movedAt: movedAt ?? behindSince };
  }

  private fallBehind(): void {
    if (this.behindSince !== undefined) return;
    this.behindSince = this.offer.now();
    this.movedAt = undefined;
  }

  private catchUp(): void {
    if (!this.flight && !this.first && this.dirty.size === 0) this.behindSince = undefined;
  }

  private begin(): void {
    const { kind, since } = this.asked;
    this.begun = true;
    this.fallBehind();
    const keys = since === undefined ? this.offer.keys(kind) : this.offer.keysSince(kind, since);
    // Reversed, so that taking from the end keeps the order of the index.
    this.first = [...keys].reverse();
  }

  private takeFirst(nonce: string, keys: string[]): Message<S> {
    const put: S[] = [];
    const gone: string[] = [];
    const resumed = this.asked.since !== undefined;
    let size = 0;
    for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
      const item = this.offer.get(key);
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

  private takeChanges(nonce: string): Message<S> | undefined {
    const put: S[] = [];
    const removed: string[] = [];
    let size = 0;
    for (const [key, was] of this.dirty) {
      const now = this.offer.get(key);
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
    if (put.length + removed.length === 0 && !this.restless) return undefined;
    return { ...this.message(nonce), put, removed };
  }

  /** Whether a message of so many items cannot take the one that would make it this large. */
  private isFull(items: number, size: number): boolean {
    return items > 0 && (items >= MOST_ITEMS || size > this.limits.bytes);
  }

  private message(nonce: string): Message<S> {
    const { kind } = this.asked;
    return { kind, nonce, revision: this.reached(), put: [], removed: [], gone: [], part: 'change', resumed: false };
  }

  /** What is still dirty belongs to the newest revision and to the newest rules as well: no point is reached before. */
  private reached(): number {
    return this.first || this.dirty.size > 0 ? 0 : this.offer.revision();
  }
}
