/** One direction of a zone's session on the global. */
export interface ZoneStream {
  message(bytes: Buffer): void;
  drain(): void;
  /** The index holds everything that was written before; asked for at the first state. */
  open(floor: number): void;
  ended(): void;
}
