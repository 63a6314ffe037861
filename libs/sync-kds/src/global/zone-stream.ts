import type { PendingLife } from '@causeway/sync';
import type { KindReport } from '../report';

/** One direction of a zone's session on the global. */
export interface ZoneStream {
  message(bytes: Buffer): void;
  drain(): void;
  /** The index holds everything that was written before; every deletion after `floor` is known. */
  open(floor: number): void;
  /** Where the zone's state comes in: see IntakeWriter. */
  heedOperator?(): Promise<void>;
  pendingLife?(): PendingLife | undefined;
  reports(): readonly KindReport[];
  ended(): void;
}
