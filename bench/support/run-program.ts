/** Runs the `main` of a program and ends it: with the exit code that it set, or with 1 and the error where it rejects. */
export function runProgram(main: () => Promise<void>): void {
  main().then(
    () => process.exit(),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}
