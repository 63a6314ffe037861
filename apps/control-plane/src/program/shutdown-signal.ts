import { sharedAbortController, type Logger } from '@causeway/runtime';

/** Maximum delay of a timer. */
const EVER = 2 ** 31 - 1;

/** Timeout for a program to hand its work over before it is killed, ms. */
const SHUTDOWN_DEADLINE = 10_000;
/** The same where something is broken: what is not handed over by then will not be, ms. */
const CRASH_DEADLINE = 3_000;

/**
 * Keeps the program running until its end, and returns the controller of its signal: it aborts on SIGTERM, SIGINT, when
 * the starter that forked it goes away in whatever way, kill -9 included (the IPC channel closes then; docs/design.md
 * §7), and after an uncaught error, with code 1. From then on the program has seconds to end by itself.
 */
export function shutdownSignal(logger: () => Logger): AbortController {
  const shutdown = sharedAbortController();
  // While it waits for its database nothing else may keep it running: no clock of ours holds the event loop.
  const alive = setInterval(() => undefined, EVER);
  shutdown.signal.addEventListener('abort', () => clearInterval(alive));
  const end = (why: string, deadline = SHUTDOWN_DEADLINE): void => {
    if (shutdown.signal.aborted) return;
    logger().info('ending', { why });
    setTimeout(() => process.exit(1), deadline).unref();
    shutdown.abort(new Error(`the program ends: ${why}`));
  };
  // // A bug: the state of the program is unknown. It hands its work over and ends; the starter or the supervisor
  // restarts it. Only the first such error is logged, the others follow from it.
  const broken = (error: unknown): void => {
    if (shutdown.signal.aborted) return;
    logger().error('the program is broken and ends', { error });
    process.exitCode = 1;
    end('an error that nobody caught', CRASH_DEADLINE);
  };
  process.on('uncaughtException', broken);
  process.on('unhandledRejection', broken);
  process.on('SIGTERM', () => end('SIGTERM'));
  process.on('SIGINT', () => end('SIGINT'));
  if (process.send !== undefined) process.on('disconnect', () => end('the starter is gone'));
  // The channel is listened to, it is no reason to go on living.
  process.channel?.unref();
  return shutdown;
}
