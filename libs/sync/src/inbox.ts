import { describeIdentity, identityKey, parseIdentityKey, type Identity, type ResourceKey } from '@causeway/resources';
import type { Rejection } from './rejection';

/** A stored resource of the peer when the stream begins. */
export interface HeldResource {
  readonly wireKey: string;
  readonly id: Identity;
}

/** One resource of a message; `content` is the content that the receiver writes. */
export interface InboundItem<C> {
  readonly wireKey: string;
  readonly id: Identity;
  readonly content: C;
}

/** One decoded message of a peer. */
export interface InboundMessage<C> {
  readonly kind: string;
  readonly items: readonly InboundItem<C>[];
  readonly rejected: readonly Rejection[];
  /** Wire keys. */
  readonly removed: readonly string[];
  /** Identities of deleted resources; all owned by the stream. */
  readonly gone: readonly Identity[];
  /** Further chunks of the first state follow. */
  readonly more: boolean;
  /** Contains only changes since a resume point: an unnamed resource is unchanged. */
  readonly resumed: boolean;
}

/** Changes to the store that one message causes. */
export interface InboundChanges<C> {
  readonly puts: readonly InboundItem<C>[];
  /** Explicitly removed by the peer. */
  readonly removed: readonly Identity[];
  /** Held before the stream began, but missing from the complete first state. */
  readonly absent: readonly Identity[];
  readonly rejected: readonly Rejection[];
  /** Whether this message completed the first state. */
  readonly completed: boolean;
}

/**
 * The receiving end of one stream: turns a message into changes of the store. Absence removes a resource only in a
 * first state that is complete on this stream, and only if the stream owns the resource (docs/design.md §5).
 *
 * Deterministic and without I/O. Messages of one kind are processed in order: call `receive` for the next one only
 * after the changes of the one before are written.
 */
export class Inbox<C> {
  private readonly kinds = new Map<string, InboxKind<C>>();

  /** `held` lists the stored resources of a kind that the stream owns; called once per kind, at its first message. */
  constructor(private readonly held: (kind: string) => Iterable<HeldResource>) {}

  /** Returns the changes that a message requires. */
  receive(message: InboundMessage<C>): InboundChanges<C> {
    const steps = this.steps(message);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /**
   * `receive` as a generator that yields after each resource, so that the caller can yield the event loop. Exhaust the
   * generator of one message before starting the next.
   */
  *steps(message: InboundMessage<C>): Generator<void, InboundChanges<C>> {
    let kind = this.kinds.get(message.kind);
    if (!kind) {
      kind = new InboxKind<C>(() => this.held(message.kind));
      this.kinds.set(message.kind, kind);
    }
    return yield* kind.receive(message);
  }

  /** Number of resources of a kind that the peer is known to have. */
  countKind(kind: string): number {
    return this.kinds.get(kind)?.size ?? 0;
  }

  /** Returns whether the first state of a kind is complete on this stream. */
  isComplete(kind: string): boolean {
    return this.kinds.get(kind)?.complete ?? false;
  }
}

/** One kind within an inbox. */
class InboxKind<C> {
  /** Identity key by wire key, and the reverse, of all resources that the peer is known to have. */
  private readonly keys = new Map<string, ResourceKey>();
  private readonly wireKeys = new Map<ResourceKey, string>();
  /** Identity keys that are held but not seen in the first state so far; undefined once it is complete. */
  private unseen: Set<ResourceKey> | undefined = new Set();
  private started = false;

  /** `held` is iterated once, with the first message. */
  constructor(private readonly held: () => Iterable<HeldResource>) {}

  get complete(): boolean {
    return this.unseen === undefined;
  }

  get size(): number {
    return this.wireKeys.size;
  }

  *receive(message: InboundMessage<C>): Generator<void, InboundChanges<C>> {
    if (!this.started) yield* this.start();
    const rejected = [...message.rejected];
    // An unreadable resource is neither changed nor absent (docs/reference/kds-wire.md §5.1).
    for (const { wireKey } of rejected) this.markSeen(this.keys.get(wireKey));
    const named = new Set(message.items.map((item) => item.wireKey));
    yield;
    // A resource in both lists is an update (docs/reference/kds-wire.md §5.1).
    const removed: Identity[] = [];
    for (const wireKey of [...message.removed, ...this.listWireKeys(message.gone)]) {
      if (!named.has(wireKey)) removed.push(...this.forget(wireKey));
      yield;
    }
    const puts: InboundItem<C>[] = [];
    for (const item of message.items) {
      if (this.accept(item, rejected)) puts.push(item);
      yield;
    }
    const kept = new Set(puts.map((item) => identityKey(item.id)));
    const completed = this.unseen !== undefined && !message.more;
    const absent = completed && !message.resumed ? this.takeAbsent() : [];
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

  private listWireKeys(gone: readonly Identity[]): readonly string[] {
    return gone.flatMap((id) => this.wireKeys.get(identityKey(id)) ?? []);
  }

  private accept({ wireKey, id }: InboundItem<C>, rejected: Rejection[]): boolean {
    const key = identityKey(id);
    const rival = this.findConflict(wireKey, key);
    if (rival !== undefined) {
      rejected.push({ wireKey, reason: rival });
      return false;
    }
    this.learn(wireKey, key);
    this.markSeen(key);
    return true;
  }

  /** Two identities under one wire key, or one identity under two, are rejected: neither overwrites the other. */
  private findConflict(wireKey: string, key: ResourceKey): string | undefined {
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

  /** Returns whether a message of this stream named it; false for resources held only from before. */
  private isCurrent(key: ResourceKey): boolean {
    return this.unseen?.has(key) !== true;
  }

  private learn(wireKey: string, key: ResourceKey): void {
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

  private markSeen(key: ResourceKey | undefined): void {
    if (key !== undefined) this.unseen?.delete(key);
  }

  private takeAbsent(): Identity[] {
    const absent = [...(this.unseen ?? [])];
    for (const key of absent) this.unlearn(this.wireKeys.get(key));
    return absent.map(parseIdentityKey);
  }
}
