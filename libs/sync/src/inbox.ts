import { InboxKind, type HeldResource, type InboundChanges, type InboundMessage } from './inbox-kind';

/**
 * The receiving end of one stream: what a message means for what is held. Absence removes only by a first state that
 * is complete on this stream, and only what the stream owns (design.md §5).
 *
 * Deterministic and without I/O. Messages of one kind are taken in one after the other: `receive` the next only after
 * the former's changes are written.
 */
export class Inbox<C> {
  private readonly kinds = new Map<string, InboxKind<C>>();

  /** `held` lists what of a kind is owned by the stream; read once a kind, at its first message. */
  constructor(private readonly held: (kind: string) => Iterable<HeldResource>) {}

  /** What a message asks to be changed here. */
  receive(parcel: InboundMessage<C>): InboundChanges<C> {
    const steps = this.steps(parcel);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** `receive` in steps of at most one resource's work each, for those who must let others have their turn in between. */
  *steps(parcel: InboundMessage<C>): Generator<void, InboundChanges<C>> {
    let kind = this.kinds.get(parcel.kind);
    if (!kind) {
      kind = new InboxKind<C>(() => this.held(parcel.kind));
      this.kinds.set(parcel.kind, kind);
    }
    return yield* kind.receive(parcel);
  }

  /** How many resources of a kind the peer is known to have. */
  sizeOf(kind: string): number {
    return this.kinds.get(kind)?.size ?? 0;
  }

  /** Whether the whole state of a kind has arrived on this stream. */
  isComplete(kind: string): boolean {
    return this.kinds.get(kind)?.complete ?? false;
  }
}
