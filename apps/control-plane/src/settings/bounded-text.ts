import { closeSync, openSync, readSync } from 'node:fs';

/**
 * Reads a text file of at most `mostKib` KiB; reads no more than that from any file type, and throws if the file is
 * larger or unreadable.
 */
export function boundedText(path: string, mostKib: number): string {
  const most = mostKib * 1024;
  const bytes = Buffer.alloc(most + 1);
  const file = openSync(path, 'r');
  try {
    let length = 0;
    for (let read = 1; read > 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    if (length > most) throw new Error(`it is larger than ${mostKib} KiB`);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}
