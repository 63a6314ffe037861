import { errorText, type Logger } from '@causeway/runtime';
import { Fenced } from '@causeway/store';
import type { PeerStream } from './peer-stream';

/** Stream that ends, and the logger for it. */
export interface StreamOfWriter {
  readonly stream: Pick<PeerStream, 'end'>;
  readonly logger: Logger;
}

/** Ends a stream since what it said could not be stored: a peer says in the next session what this side lacks, and in this one never again. */
export function endUnstored({ stream, logger }: StreamOfWriter, what: string, error: unknown): void {
  const text = errorText(error);
  logger.warn(`${what} could not be stored`, { error: text });
  stream.end(error instanceof Fenced ? 'superseded' : 'unavailable', `${what} could not be stored: ${text}`);
}
