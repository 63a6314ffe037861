import type { KindReport } from '../report';

/** One direction of a zone's session on the global. */
export interface ZoneStream {
  message(bytes: Buffer): void;
  drain(): void;
  /** The index holds everything that was written before; every deletion after `floor` is known. */
  open(floor: number): void;
  /** Accepts a new life of the zone; false when none is held. */
  confirm(): Promise<boolean>;
  reports(): readonly KindReport[];
  ended(): void;
}
