import { setTimeout as pause } from 'node:timers/promises';

/** Asks until the answer is neither undefined nor false and returns it; fails after `timeoutMs`, naming `what`. */
export async function until<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 120_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs / 1_000} s in vain: ${what}`);
    await pause(25);
  }
}
