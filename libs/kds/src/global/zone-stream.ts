import type { PendingIncarnation } from '@causeway/sync';
import type { KindReport } from '../session/kind-report';
import type { PeerStream } from '../session/peer-stream';
import type { AcceptedStream } from './handshake-handler';
import type { InboundChannel } from '../session/inbound/inbound-capacity';

/** What one direction of a session is made of. */
export interface StreamParts {
  readonly accepted: AcceptedStream;
  readonly stream: PeerStream;
  readonly channel: InboundChannel;
}

/** One direction of a zone's session on the global. */
export interface ZoneStream {
  /** A promise: the next message waits until it resolves. */
  message(bytes: Buffer): Promise<void> | void;
  drain(): void;
  /** The index holds everything that was written before; every deletion after `floor` is known. */
  open(floor: number): void;
  /** Where the zone's state comes in: see InboundApplier. */
  checkConfirmation?(): Promise<void>;
  pendingIncarnation?(): PendingIncarnation | undefined;
  reports(): readonly KindReport[];
  /** Where state goes out: see OutboundStream. */
  unanswered?(): number;
  blockedSince?(): number | undefined;
  ended(): void;
}
