import { errorText, type Logger } from '@causeway/runtime';
import { Fenced } from '@causeway/store';
import type { PeerStream } from './peer-stream';

/** The stream to end, and its logger. */
export interface StreamOfWriter {
  readonly stream: Pick<PeerStream, 'end'>;
  readonly logger: Logger;
}

/** Ends a stream whose message could not be stored: the peer sends it again only in a new session. */
export function endOnStoreFailure({ stream, logger }: StreamOfWriter, what: string, error: unknown): void {
  const text = errorText(error);
  logger.warn(`${what} could not be stored`, { error: text });
  stream.end(error instanceof Fenced ? 'superseded' : 'unavailable', `${what} could not be stored: ${text}`);
}
