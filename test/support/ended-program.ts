import { spyOn } from 'jest-mock';
import { exitOnError } from '@causeway/control-plane';

/** Exit code, output and errors of a program that ended by itself. */
export type EndedProgram = readonly [code: number | null, out: string, err: string];

class ProcessEnd extends Error {}

/**
 * Runs the start of a program up to the point where it serves, in this process: a hundredth of the cost of a process. An error ends it as it ends a
 * program.
 */
export function runUntilItEnds(begin: () => unknown): EndedProgram {
  let [code, out, err]: [number | null, string, string] = [null, '', ''];
  const written = [
    spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true)),
    spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true)),
  ];
  const exit = spyOn(process, 'exit').mockImplementation((given) => {
    code = Number(given);
    throw new ProcessEnd();
  });
  try {
    endByFailure(begin);
  } catch (error) {
    if (!(error instanceof ProcessEnd)) throw error;
  } finally {
    for (const spy of [...written, exit]) spy.mockRestore();
  }
  return [code, out, err];
}

function endByFailure(begin: () => unknown): void {
  try {
    begin();
  } catch (error) {
    if (error instanceof ProcessEnd) throw error;
    exitOnError(error);
  }
}
