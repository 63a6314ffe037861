import { Backoff, systemClock } from '@causeway/runtime';
import type { WatchEvent, WatchOptions } from './api-client';
import { ApiError } from './api-error';

/** One stream of a watch: from a token, or with the whole list first. */
export type OpenWatch = (resumeToken: string | undefined, signal: AbortSignal) => AsyncIterable<WatchEvent>;

/** Codes of errors for which a retry may succeed. */
const RETRIED: readonly string[] = ['unavailable', 'exhausted', 'internal'];

/**
 * Opens streams one after the other, each from the last bookmark. If the server no longer has the changes since then, or no bookmark was sent yet,
 * `restart` comes first. Ends when `signal` aborts; throws an error for which a retry is useless, and any error before a stream has sent something.
 */
export async function* resumingWatch(
  open: OpenWatch,
  { signal, resumeToken }: WatchOptions,
): AsyncGenerator<WatchEvent, void> {
  const backoff = new Backoff({ base: 50, cap: 5_000 });
  let token = resumeToken;
  let hasSent = false;
  while (!signal.aborted) {
    try {
      if (token === undefined && hasSent) yield { type: 'restart' };
      for await (const event of open(token, signal)) {
        backoff.reset();
        hasSent = true;
        if (event.type === 'bookmark') token = event.resumeToken;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'watch-expired') [token, hasSent] = [undefined, true];
      else if (!hasSent || !RETRIED.includes(error.code)) throw error;
    }
    await systemClock.sleep(backoff.next(), signal);
  }
}
