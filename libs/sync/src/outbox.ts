import type { MessageLimits, OutboundSource, OutboundResource, LastSent } from './outbound';
import type { Rejection } from './rejection';
import { OutboxKind, type KindProgress, type OutboundMessage } from './outbox-kind';

/**
 * The sending end of one stream (kds.md §2.5): a complete first state a kind, then what changed, one message a kind
 * in flight, the latest value wins. It holds no content, only which keys the peer must hear about and what it was
 * told of them, so a peer that reads slowly costs a bounded amount.
 *
 * Deterministic and without I/O: events change its state, `take` yields the next message that may leave.
 */
export class Outbox<S extends OutboundResource> {
  private readonly kinds = new Map<string, OutboxKind<S>>();
  private nonce = 0;
  private turn = 0;

  constructor(
    private readonly source: OutboundSource<S>,
    private readonly limits: MessageLimits,
  ) {}

  /**
   * The peer asked for a kind: it gets the whole state, even when that is empty, or what changed since the revision
   * that it is known to hold (cw-resume). Asking again on the same stream begins nothing anew: it is answered with
   * what is new, also when that is nothing (kds.md §2.5).
   */
  subscribe(kind: string, since?: number): void {
    const known = this.kinds.get(kind);
    if (known) known.requestBookmark();
    else this.kinds.set(kind, new OutboxKind({ kind, since }, this.source, this.limits));
  }

  isSubscribed(kind: string): boolean {
    return this.kinds.has(kind);
  }

  /**
   * A resource may differ from what the peer was told. `was` is how the peer would have been told it before this
   * change; it counts only when nothing else is pending for the key.
   */
  mark(kind: string, key: string, was: LastSent | undefined): void {
    this.kinds.get(kind)?.mark(key, was);
  }

  /** The peer shall hear how far the kind is, even when nothing of it changed. */
  requestBookmark(kind: string): void {
    this.kinds.get(kind)?.requestBookmark();
  }

  /** The peer answered a message; what it rejected counts as handled. False when nothing with that nonce is in flight. */
  acknowledge(kind: string, nonce: string, rejected: readonly Rejection[]): boolean {
    return this.kinds.get(kind)?.acknowledge(nonce, rejected) ?? false;
  }

  /** The next message that may leave; kinds take turns. Undefined when there is nothing to say or all wait for answers. */
  take(): OutboundMessage<S> | undefined {
    const kinds = [...this.kinds.values()];
    for (let i = 0; i < kinds.length; i++) {
      const turn = (this.turn + i) % kinds.length;
      const message = kinds[turn]?.take(String(this.nonce + 1));
      if (!message) continue;
      this.nonce++;
      this.turn = turn + 1;
      return message;
    }
    return undefined;
  }

  /** How far each kind is. */
  progress(): ReadonlyMap<string, KindProgress> {
    return new Map([...this.kinds].map(([name, kind]) => [name, kind.progress()]));
  }
}
