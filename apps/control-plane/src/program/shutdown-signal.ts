import { sharedAbortController, type Logger } from '@causeway/runtime';

/** Maximum delay of a timer. */
const MAX_TIMER_DELAY = 2 ** 31 - 1;

/** Timeout for a program to hand over its work before it is killed, ms. */
const SHUTDOWN_DEADLINE = 10_000;
/** The same timeout after an uncaught error, ms: what takes longer will not succeed. */
const CRASH_DEADLINE = 3_000;

/**
 * Keeps the program running until its end, and returns the controller of its signal: it aborts on SIGTERM, SIGINT, when
 * the starter that forked it disappears for any reason, kill -9 included (the IPC channel closes then; docs/design.md
 * §7), and after an uncaught error, with code 1. From then on the program has seconds to end by itself.
 */
export function shutdownSignal(logger: () => Logger): AbortController {
  const shutdown = sharedAbortController();
  // Keeps the program running while it waits for its database: its own timers do not.
  const alive = setInterval(() => undefined, MAX_TIMER_DELAY);
  shutdown.signal.addEventListener('abort', () => clearInterval(alive));
  const end = (why: string, deadline = SHUTDOWN_DEADLINE): void => {
    if (shutdown.signal.aborted) return;
    logger().info('ending', { why });
    setTimeout(() => process.exit(1), deadline).unref();
    shutdown.abort(new Error(`the program ends: ${why}`));
  };
  // A bug: the state of the program is unknown. It hands over its work and ends; the starter or the supervisor restarts
  // it. Only the first such error is logged, because the others follow from it.
  const broken = (error: unknown): void => {
    if (shutdown.signal.aborted) return;
    logger().error('the program shuts down after an uncaught error', { error });
    process.exitCode = 1;
    end('an error that nobody caught', CRASH_DEADLINE);
  };
  process.on('uncaughtException', broken);
  process.on('unhandledRejection', broken);
  process.on('SIGTERM', () => end('SIGTERM'));
  process.on('SIGINT', () => end('SIGINT'));
  if (process.send !== undefined) process.on('disconnect', () => end('the starter is gone'));
  // Listening to the channel must not keep the program running.
  process.channel?.unref();
  return shutdown;
}
