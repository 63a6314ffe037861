import { printable } from './printable.mjs';

/** A failure the person at the terminal can do something about: printed as its one line, without a stack. */
export class Failure extends Error {}

/** Runs a script's main function; a Failure ends it with one line and exit code 1, anything else is a bug and shows its stack. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Failure ? printable(`causeway: ${error.message}`) : error);
    process.exitCode = 1;
  }
}
