import { describeIdentity, identityKey, parseIdentityKey, type Identity } from '@causeway/resources';
import type { Rejection } from './rejection';

/** What is held from the peer of a stream when the stream begins. */
export interface HeldResource {
  readonly wireKey: string;
  readonly id: Identity;
}

/** A resource of a message; `content` is what will be written for it. */
export interface InboundItem<C> {
  readonly wireKey: string;
  readonly id: Identity;
  readonly content: C;
}

/** One message of a peer, as far as it could be decoded. */
export interface InboundMessage<C> {
  readonly kind: string;
  readonly items: readonly InboundItem<C>[];
  readonly rejected: readonly Rejection[];
  /** Wire keys. */
  readonly removed: readonly string[];
  /** What is no more, by identity; owned by the stream. */
  readonly gone: readonly Identity[];
  /** Further pieces of the first state follow. */
  readonly more: boolean;
  /** Only what changed since a point that was reached before: nothing is absent. */
  readonly resumed: boolean;
}

/** What a message changes here. */
export interface InboundChanges<C> {
  readonly puts: readonly InboundItem<C>[];
  /** Explicitly removed by the peer. */
  readonly removed: readonly Identity[];
  /** Held before, and not in the complete first state. */
  readonly absent: readonly Identity[];
  readonly rejected: readonly Rejection[];
  /** This message completed the first state. */
  readonly completed: boolean;
}

/** One kind within an inbox. */
export class InboxKind<C> {
  /** Wire key and identity key of everything the peer is known to have, both ways. */
  private readonly keys = new Map<string, string>();
  private readonly wireKeys = new Map<string, string>();
  /** What is held and was not seen in the first state yet; undefined once that is complete. */
  private unseen: Set<string> | undefined = new Set();
  private started = false;

  /** `held` is read with the first message. */
  constructor(private readonly held: () => Iterable<HeldResource>) {}

  get complete(): boolean {
    return this.unseen === undefined;
  }

  /** How many resources the peer is known to have. */
  get size(): number {
    return this.wireKeys.size;
  }

  /** Each step is at most one resource's work; the steps of one message end before those of the next begin. */
  *receive(parcel: InboundMessage<C>): Generator<void, InboundChanges<C>> {
    if (!this.started) yield* this.start();
    const rejected = [...parcel.rejected];
    // What could not be read is neither changed nor missing (kds.md §5.1).
    for (const { wireKey } of rejected) this.markSeen(this.keys.get(wireKey));
    const arrived = new Set(parcel.items.map((arrival) => arrival.wireKey));
    yield;
    // Named in both lists it is an update (kds.md §5.1).
    const removed: Identity[] = [];
    for (const wireKey of [...parcel.removed, ...this.wireKeysOf(parcel.gone)]) {
      if (!arrived.has(wireKey)) removed.push(...this.forget(wireKey));
      yield;
    }
    const puts: InboundItem<C>[] = [];
    for (const arrival of parcel.items) {
      if (this.accept(arrival, rejected)) puts.push(arrival);
      yield;
    }
    const kept = new Set(puts.map((arrival) => identityKey(arrival.id)));
    const completed = this.unseen !== undefined && !parcel.more;
    const absent = completed && !parcel.resumed ? this.takeAbsent() : [];
    if (completed) this.unseen = undefined;
    return { puts, removed: removed.filter((id) => !kept.has(identityKey(id))), absent, rejected, completed };
  }

  private *start(): Generator<void> {
    for (const { wireKey, id } of this.held()) {
      this.learn(wireKey, identityKey(id));
      yield;
    }
    this.unseen = new Set(this.wireKeys.keys());
    this.started = true;
  }

  private wireKeysOf(gone: readonly Identity[]): readonly string[] {
    return gone.flatMap((id) => this.wireKeys.get(identityKey(id)) ?? []);
  }

  private accept({ wireKey, id }: InboundItem<C>, rejected: Rejection[]): boolean {
    const key = identityKey(id);
    const rival = this.conflictOf(wireKey, key);
    if (rival !== undefined) {
      rejected.push({ wireKey, reason: rival });
      return false;
    }
    this.learn(wireKey, key);
    this.markSeen(key);
    return true;
  }

  /** Two identities under one wire name, or one identity under two, are reported and never overwrite (design.md §1). */
  private conflictOf(wireKey: string, key: string): string | undefined {
    const sameName = this.keys.get(wireKey);
    if (sameName !== undefined && sameName !== key && this.isCurrent(sameName)) {
      return `${describeIdentity(parseIdentityKey(sameName))} has the same name on the wire`;
    }
    const otherName = this.wireKeys.get(key);
    if (otherName !== undefined && otherName !== wireKey && this.isCurrent(key)) {
      return `it is the same ${describeIdentity(parseIdentityKey(key))} as "${otherName}"`;
    }
    return undefined;
  }

  /** Known by this stream's own messages, not only held from before. */
  private isCurrent(key: string): boolean {
    return this.unseen?.has(key) !== true;
  }

  private learn(wireKey: string, key: string): void {
    this.unlearn(this.wireKeys.get(key));
    this.unlearn(wireKey);
    this.keys.set(wireKey, key);
    this.wireKeys.set(key, wireKey);
  }

  private unlearn(wireKey: string | undefined): void {
    const key = wireKey === undefined ? undefined : this.keys.get(wireKey);
    if (wireKey === undefined || key === undefined) return;
    this.keys.delete(wireKey);
    this.wireKeys.delete(key);
  }

  private forget(wireKey: string): Identity[] {
    const key = this.keys.get(wireKey);
    if (key === undefined) return [];
    this.unlearn(wireKey);
    this.markSeen(key);
    return [parseIdentityKey(key)];
  }

  private markSeen(key: string | undefined): void {
    if (key !== undefined) this.unseen?.delete(key);
  }

  private takeAbsent(): Identity[] {
    const absent = [...(this.unseen ?? [])];
    for (const key of absent) this.unlearn(this.wireKeys.get(key));
    return absent.map(parseIdentityKey);
  }
}
