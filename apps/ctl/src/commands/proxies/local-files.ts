import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { errorText } from '@causeway/runtime';
import { UsageError } from '../../context';

/** Returns the text of a file that the user named. Throws UsageError if it cannot be read. */
export function readGiven(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(errorText(cause), { cause });
  }
}

/** Writes a file that only its owner can read; an existing file gets these permissions before the content. */
export function writeOwn(file: string, text: string): void {
  if (existsSync(file)) chmodSync(file, 0o600);
  writeFileSync(file, text, { mode: 0o600 });
}
