import { constants } from 'node:os';

/**
 * Runs the `main` of a program and ends it: with the exit code that it set, or with 1 and the error where it rejects. A signal ends it
 * as an exit, so that what it has started ends too.
 */
export function runProgram(main: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  main().then(
    () => process.exit(),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}
