import { createInterface } from 'node:readline/promises';
import type { ProgramContext } from './context';

/** Asks a person for a yes; anything else, also the end of the input and Ctrl-C, is a no. The question goes to standard error. */
export async function confirmed(context: ProgramContext, question: string): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const ended = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
    const answer = reader.question(`${question} [y/N] `, { signal: context.signal }).catch(() => '');
    return /^y(es)?$/i.test((await Promise.race([answer, ended])).trim());
  } finally {
    reader.close();
  }
}
