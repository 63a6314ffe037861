import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { errorText } from '@causeway/runtime';
import { UsageError } from '../../context';

/** The text of a file that the user named. Throws UsageError where it cannot be read. */
export function readGiven(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(errorText(cause), { cause });
  }
}

/** A file that only its owner can read; one that is there gets these rights before it gets the content. */
export function writeOwn(file: string, text: string): void {
  if (existsSync(file)) chmodSync(file, 0o600);
  writeFileSync(file, text, { mode: 0o600 });
}
