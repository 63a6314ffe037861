import type { JsonObject } from '@causeway/resources';
import { BoundedMap } from '@causeway/runtime';
import type { EndReason } from '../session/peer-stream';
import { peerText } from '../session/peer-text';

/** Zones whose last end is remembered; the oldest is forgotten first. */
const MOST = 1_000;

/** A stream that this replica has ended because of what its zone sent. */
export interface StreamEnding {
  readonly direction: 'up' | 'down';
  readonly reason: EndReason;
  readonly detail: string;
  /** ms since 1970. */
  readonly at: number;
}

/** Why streams of zones were ended here, the last time of each zone. */
export class StreamEndings {
  private readonly ends = new BoundedMap<StreamEnding>(MOST);

  note(zone: string, end: StreamEnding): void {
    this.ends.set(zone, { ...end, detail: peerText(end.detail) });
  }

  /** As an insight says it. */
  document(zone: string): JsonObject {
    const end = this.ends.get(zone);
    return end ? { endedStream: { ...end } } : {};
  }
}
