import { escapedLine, escapedLines } from '@causeway/resources';
import { withColours } from './colour';

/** Outputs of the program: standard output and standard error. */
export interface Printer {
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
}

/** A stream of this program. */
export interface Output {
  write(text: string): unknown;
}

/**
 * Creates the only way in which this program writes to a terminal (test/repo/printers.spec.ts checks that). Characters that control a terminal
 * (docs/reference/cli.md, What servers say) are escaped; colours are those of `painter`. Line feeds and tabs stay: texts of servers go through
 * `textAt`, which removes them.
 */
export function createPrinter(out: Output, error: Output): Printer {
  const to =
    (stream: Output) =>
    (text: string): void =>
      void stream.write(`${printed(text)}\n`);
  return { print: to(out), printError: to(error) };
}

/** Returns a text in its printed form. */
export const printed = (text: string): string => withColours(escapedLines(text));

/** Returns a question in its printed form, in one line. */
export const asked = (question: string): string => `${escapedLine(question)} [y/N] `;

/** One terminal line that is overwritten: only for this program's own texts. */
export class StatusLine {
  private shown = false;

  show(text: string): void {
    if (!process.stderr.isTTY) return;
    this.shown = true;
    process.stderr.write(`\r\u001b[K${escapedLine(text)}`);
  }

  clear(): void {
    if (this.shown) process.stderr.write('\r\u001b[K');
    this.shown = false;
  }
}

/** Writes a backup to standard output unchanged; to a terminal with JSON escapes. Resolves when it is written. */
export function writeLines(text: string): Promise<void> {
  const shown = process.stdout.isTTY ? escapedLines(text) : text;
  return new Promise((resolve, reject) => process.stdout.write(shown, (error) => (error ? reject(error) : resolve())));
}
