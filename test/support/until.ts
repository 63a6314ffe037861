import { setTimeout as pause } from 'node:timers/promises';

/** Between two questions, ms. */
const PAUSE = { shortest: 25, longest: 250, afterSlow: 500 };

/** Interval between two checks of state within this process, ms. */
const LOOK_INTERVAL = 2;

/** A tenth of the time that was waited; where a question takes long, such as a program that is started, as long as it took. */
function pauseAfter(waited: number, last: number): number {
  const { shortest, longest, afterSlow } = PAUSE;
  return Math.max(shortest, Math.min(longest, waited / 10), Math.min(afterSlow, last));
}

/**
 * Calls until the answer is neither undefined nor false and returns it; fails after `timeoutMs`, naming `what`. The interval grows with the wait: the
 * awaited work needs the same processor.
 */
export async function until<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 120_000,
): Promise<T> {
  const began = Date.now();
  const deadline = began + timeoutMs;
  for (;;) {
    const asked = Date.now();
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs / 1_000} s in vain: ${what}`);
    const now = Date.now();
    await pause(pauseAfter(now - began, now - asked));
  }
}

/**
 * Resolves once the condition holds; it is checked every few ms and not in each turn of the event loop, since a busy wait takes a whole core from the
 * awaited work.
 */
export async function untilSoon(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(LOOK_INTERVAL);
}
