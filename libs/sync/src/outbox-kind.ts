import type { ResourceKey } from '@causeway/resources';
import type { StateBlocks } from './state-blocks';
import {
  isMessageFull,
  type LastSent,
  type MessageLimits,
  type OutboundMessage,
  type OutboundResource,
  type StatePart,
} from './outbound-message';
import { RoundRobinKeys } from './round-robin-keys';
import { Rejections, type Rejection } from './rejection';

/** Resources that the peer of one stream may receive now. */
export interface OutboundSource<S extends OutboundResource> {
  /**
   * Returns the resources of a kind that the peer may have; with `since`, those that changed or were deleted after this
   * revision and that the peer may ever have had.
   */
  initialState(kind: string, since: number | undefined, limits: MessageLimits): StateBlocks<S>;
  /** Returns a resource as it would be sent now; undefined if the peer may not have it or it does not exist. */
  get(key: ResourceKey): S | undefined;
  /** Revision of the index that the other methods read. */
  revision(): number;
  /** ms since 1970. */
  now(): number;
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
  readonly put: readonly LastSent[];
  /** Names of what the peer has to drop. */
  readonly dropped: readonly string[];
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
  /** The first state; undefined before it starts and once all of it is sent. */
  private first: StateBlocks<S> | undefined;
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
    this.rejections.recordAnswer(listNames(this.inFlight), rejected);
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
    this.inFlight = { nonce, revision, put, dropped: [...removed, ...gone] };
    this.markBehind();
    return message;
  }

  progress(): KindProgress {
    const { offered, acked, sent, behindSince, movedAt } = this;
    const unanswered = (this.inFlight?.put.length ?? 0) + (this.inFlight?.dropped.length ?? 0);
    const waiting = this.dirty.size + (this.first?.remaining ?? 0) + unanswered;
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
    this.first = this.source.initialState(kind, since, this.limits);
  }

  private takeFirst(nonce: string, first: StateBlocks<S>): OutboundMessage<S> {
    const parts = this.readParts(first, this.limits.chunked ? 1 : Infinity);
    const complete = first.remaining === 0;
    if (complete) this.first = undefined;
    const [only, ...others] = parts;
    return {
      ...this.message(nonce),
      parts,
      put: only && others.length === 0 ? only.put : parts.flatMap(({ put }) => put),
      gone: parts.flatMap(({ gone }) => gone),
      resumed: this.subscription.since !== undefined,
      part: complete ? 'last-chunk' : 'chunk',
    };
  }

  /** Reads at most so many parts of the first state. */
  private readParts(first: StateBlocks<S>, most: number): readonly StatePart<S>[] {
    const parts: StatePart<S>[] = [];
    while (parts.length < most) {
      const block = first.next();
      if (!block) break;
      for (const keys of block.keys) this.forget(keys);
      parts.push(block.part);
    }
    return parts;
  }

  /** What is read now contains all changes up to now. */
  private forget(keys: ReadonlySet<ResourceKey>): void {
    if (this.dirty.size > keys.size) for (const key of keys) this.dirty.delete(key);
    else for (const [key] of this.dirty) if (keys.has(key)) this.dirty.delete(key);
  }

  private takeChanges(nonce: string): OutboundMessage<S> | undefined {
    if (this.dirty.size === 0 && !this.bookmarkDue) return undefined;
    const put: S[] = [];
    const removed: string[] = [];
    let size = 0;
    for (const [key, was] of this.dirty) {
      const now = this.source.get(key);
      if (isMessageFull(this.limits, put.length + removed.length, size + (now?.size ?? 0))) break;
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

  private message(nonce: string): OutboundMessage<S> {
    const { kind } = this.subscription;
    return {
      kind,
      nonce,
      revision: this.ackRevision(),
      put: [],
      parts: [],
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

function* listNames({ put, dropped }: InFlightMessage): Iterable<string> {
  for (const { wireKey } of put) yield wireKey;
  yield* dropped;
}
