import type { MessageLimits, Offer, Sendable, Told } from './offer';

/** One response to the peer. */
export interface Message<S extends Sendable> {
  readonly kind: string;
  readonly nonce: string;
  /** Revision of our store up to which the peer knows this kind with this message. */
  readonly revision: number;
  readonly put: readonly S[];
  /** Wire keys. */
  readonly removed: readonly string[];
  /** Part of a first state: `whole` ends it, `piece` does not; `change` is neither. */
  readonly part: 'whole' | 'piece' | 'change';
}

/** How far one kind of one stream is. Revisions are of our store; 0 = nothing yet. */
export interface KindFigures {
  readonly offered: number;
  readonly acked: number;
  /** Resources sent and rejected since the stream began. */
  readonly sent: number;
  readonly rejected: number;
  /** Keys that wait to be told, the message in flight included. */
  readonly waiting: number;
  /** Whether the peer has the whole state and nothing waits. */
  readonly settled: boolean;
}

interface Flight {
  readonly nonce: string;
  readonly revision: number;
  readonly count: number;
}

/** One kind within an outbox. */
export class OutboxKind<S extends Sendable> {
  /** Keys of the first state that have not left; undefined once it has left whole. */
  private first: string[] | undefined;
  private readonly dirty = new Map<string, Told | undefined>();
  private flight: Flight | undefined;
  private offered = 0;
  private acked = 0;
  private sent = 0;
  private rejected = 0;
  private begun = false;

  constructor(
    private readonly kind: string,
    private readonly offer: Offer<S>,
    private readonly limits: MessageLimits,
  ) {}

  mark(key: string, was: Told | undefined): void {
    // Before the first state has begun nothing was told: it will carry the latest of everything.
    if (!this.begun || this.dirty.has(key)) return;
    this.dirty.set(key, was && { wireKey: was.wireKey, version: was.version });
  }

  answer(nonce: string, rejected: number): boolean {
    if (this.flight?.nonce !== nonce) return false;
    this.acked = this.flight.revision;
    this.rejected += rejected;
    this.flight = undefined;
    return true;
  }

  take(nonce: string): Message<S> | undefined {
    if (this.flight) return undefined;
    if (!this.begun) this.begin();
    const message = this.first ? this.takeFirst(nonce, this.first) : this.takeChanges(nonce);
    if (!message) return undefined;
    this.offered = message.revision;
    this.sent += message.put.length;
    this.flight = { nonce, revision: message.revision, count: message.put.length + message.removed.length };
    return message;
  }

  figures(): KindFigures {
    const { offered, acked, sent, rejected } = this;
    const waiting = this.dirty.size + (this.first?.length ?? 0) + (this.flight?.count ?? 0);
    return {
      offered,
      acked,
      sent,
      rejected,
      waiting,
      settled: this.begun && !this.first && !this.flight && waiting === 0,
    };
  }

  private begin(): void {
    this.begun = true;
    // Reversed, so that taking from the end keeps the order of the index.
    this.first = [...this.offer.keys(this.kind)].reverse();
  }

  private takeFirst(nonce: string, keys: string[]): Message<S> {
    const put: S[] = [];
    let size = 0;
    for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
      const item = this.offer.get(key);
      if (item && this.limits.chunked && put.length > 0 && size + item.size > this.limits.bytes) {
        keys.push(key);
        break;
      }
      this.dirty.delete(key);
      if (!item) continue;
      put.push(item);
      size += item.size;
    }
    const whole = keys.length === 0;
    if (whole) this.first = undefined;
    return {
      kind: this.kind,
      nonce,
      revision: this.offer.revision(),
      put,
      removed: [],
      part: whole ? 'whole' : 'piece',
    };
  }

  private takeChanges(nonce: string): Message<S> | undefined {
    const put: S[] = [];
    const removed: string[] = [];
    let size = 0;
    for (const [key, was] of this.dirty) {
      const now = this.offer.get(key);
      if (now && put.length > 0 && size + now.size > this.limits.bytes) break;
      this.dirty.delete(key);
      if (now?.version === was?.version && now?.wireKey === was?.wireKey) continue;
      if (was && was.wireKey !== now?.wireKey) removed.push(was.wireKey);
      if (!now) continue;
      put.push(now);
      size += now.size;
    }
    if (put.length + removed.length === 0) return undefined;
    return { kind: this.kind, nonce, revision: this.offer.revision(), put, removed, part: 'change' };
  }
}
