import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asks until the answer is truthy and returns it; after `timeoutMs` it returns undefined.
 * An aborted signal ends the wait with the signal's reason.
 */
export async function waitFor(ask, { timeoutMs, everyMs = 50, signal }) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() >= deadline) return undefined;
    await delay(everyMs, undefined, { signal });
  }
}
