import type { ResourceKey } from '@causeway/resources';
import type { Rejection } from './rejection';
import type { LastSent, MessageLimits, OutboundMessage, OutboundResource } from './outbound-message';
import { OutboxKind, type KindProgress, type OutboundSource } from './outbox-kind';

/**
 * The sending end of one stream (docs/reference/kds-wire.md §2.5): for each kind one complete first state, then changes. One message for each kind is
 * in flight; of several changes to a resource only the latest value is sent. The outbox stores no content, only the dirty keys and the last sent
 * state of each, so a slow reader costs bounded memory.
 *
 * Deterministic and without I/O: method calls change its state, `take` returns the next message.
 */
export class Outbox<S extends OutboundResource> {
  private readonly kinds = new Map<string, OutboxKind<S>>();
  /** The entries of `kinds`, in order. */
  private readonly turns: (readonly [name: string, kind: OutboxKind<S>])[] = [];
  private nonce = 0;
  private turn = 0;

  constructor(
    private readonly source: OutboundSource<S>,
    private readonly limits: MessageLimits,
  ) {}

  /**
   * Starts a kind that the peer requests: with the full state, even if it is empty, or with the changes since the
   * revision that the peer holds (cw-resume). A second request on the same stream does not restart the kind: it is
   * answered with the pending changes, or with an empty message (docs/reference/kds-wire.md §2.5).
   */
  subscribe(kind: string, since?: number): void {
    const known = this.kinds.get(kind);
    if (known) return known.requestBookmark();
    const added = new OutboxKind({ kind, since }, this.source, this.limits);
    this.kinds.set(kind, added);
    this.turns.push([kind, added]);
  }

  isSubscribed(kind: string): boolean {
    return this.kinds.has(kind);
  }

  /**
   * Marks a resource that may differ from what was last sent. `was` is what would have been sent before this change; it
   * is ignored if the key is already dirty.
   */
  mark(kind: string, key: ResourceKey, was: LastSent | undefined): void {
    this.kinds.get(kind)?.mark(key, was);
  }

  /** Makes the next message report the revision of the kind, even if no resource changed. */
  requestBookmark(kind: string): void {
    this.kinds.get(kind)?.requestBookmark();
  }

  /**
   * The peer acknowledged a message. Rejected resources are treated as acknowledged; they are resent when their content
   * changes. Returns false if no message with that nonce is in flight.
   */
  acknowledge(kind: string, nonce: string, rejected: readonly Rejection[]): boolean {
    return this.kinds.get(kind)?.acknowledge(nonce, rejected) ?? false;
  }

  /**
   * Returns the next message, skipping kinds in `waiting`; kinds take turns. Undefined if nothing is dirty or all kinds
   * have a message in flight.
   */
  take(waiting?: ReadonlySet<string>): OutboundMessage<S> | undefined {
    const { turns } = this;
    for (let i = 0; i < turns.length; i++) {
      const turn = (this.turn + i) % turns.length;
      const [name = '', kind] = turns[turn] ?? [];
      const message = waiting?.has(name) === true ? undefined : kind?.take(String(this.nonce + 1));
      if (!message) continue;
      this.nonce++;
      this.turn = turn + 1;
      return message;
    }
    return undefined;
  }

  /** Progress of each kind, by its name. */
  progress(): ReadonlyMap<string, KindProgress> {
    return new Map([...this.kinds].map(([name, kind]) => [name, kind.progress()]));
  }
}
