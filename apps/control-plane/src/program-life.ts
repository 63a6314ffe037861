import type { Logger } from '@causeway/runtime';

/** Longest delay of a timer. */
const EVER = 2 ** 31 - 1;

/** How long a program may take to hand its work over before it is ended hard, ms. */
const LONGEST_END = 10_000;

/**
 * Keeps the program running until its end, and gives the signal of that: it aborts on SIGTERM, SIGINT, and when the
 * starter it was forked by goes away in whatever way, kill -9 included (the IPC channel closes then; design.md §7).
 */
export function programLife(logger: () => Logger): AbortController {
  const life = new AbortController();
  // While it waits for its database nothing else may keep it running: no clock of ours holds the event loop.
  const alive = setInterval(() => undefined, EVER);
  const end = (why: string): void => {
    if (life.signal.aborted) return;
    logger().info('ending', { why });
    setTimeout(() => process.exit(1), LONGEST_END).unref();
    clearInterval(alive);
    life.abort(new Error(`the program ends: ${why}`));
  };
  // A mistake of ours: what else this process would do rests on a state that nobody knows. The lease goes at once.
  const broken = (why: string) => (error: unknown) => {
    logger().error(why, { error });
    process.exitCode = 1;
    end(why);
  };
  process.on('uncaughtException', broken('an error that nobody caught'));
  process.on('unhandledRejection', broken('a rejection that nobody caught'));
  process.on('SIGTERM', () => end('SIGTERM'));
  process.on('SIGINT', () => end('SIGINT'));
  if (process.send !== undefined) process.on('disconnect', () => end('the starter is gone'));
  // The channel is listened to, it is no reason to go on living.
  process.channel?.unref();
  return life;
}
