import type { PendingLife } from '@causeway/sync';
import type { KindReport } from '../report';
import type { PeerStream } from '../stream/peer-stream';
import type { Entrance } from './zone-door';
import type { ZoneInlet } from './zone-intake';

/** What one direction of a session is made of. */
export interface StreamParts {
  readonly entrance: Entrance;
  readonly stream: PeerStream;
  readonly inlet: ZoneInlet;
}

/** One direction of a zone's session on the global. */
export interface ZoneStream {
  /** A promise: the next message waits until it resolves. */
  message(bytes: Buffer): Promise<void> | void;
  drain(): void;
  /** The index holds everything that was written before; every deletion after `floor` is known. */
  open(floor: number): void;
  /** Where the zone's state comes in: see IntakeWriter. */
  heedOperator?(): Promise<void>;
  pendingLife?(): PendingLife | undefined;
  reports(): readonly KindReport[];
  /** Where state goes out: see OfferStream. */
  unanswered?(): number;
  blockedSince?(): number | undefined;
  ended(): void;
}
