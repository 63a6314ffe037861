import { constants } from 'node:os';

/**
 * Runs the `main` of a program and exits with the code that it set, or with 1 and the error if it rejects. A signal is handled as an exit, so that
 * child processes end too.
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
