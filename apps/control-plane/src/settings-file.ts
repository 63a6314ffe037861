import { closeSync, openSync, readSync } from 'node:fs';
import { parseYaml } from '@causeway/admission';
import { isJsonObject } from '@causeway/resources';
import { errorText } from '@causeway/runtime';

/** Largest file of settings, bytes. */
const MAX_BYTES = 256 * 1024;

/** What a YAML file of settings holds; throws with all that is to be said of it in one line. */
export function readSettingsFile(path: string): Readonly<Record<string, unknown>> {
  const [content = {}, ...more] = documentsIn(path);
  if (isJsonObject(content) && more.length === 0) return content;
  throw new Error(`${path} must hold an object of settings`);
}

function documentsIn(path: string): readonly unknown[] {
  try {
    return parseYaml(textOf(path)).map(({ value }) => value);
  } catch (error) {
    throw new Error(`${path} cannot be read as YAML: ${errorText(error)}`, { cause: error });
  }
}

/** Reads no more than is allowed, whatever stands at the path. */
function textOf(path: string): string {
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  const file = openSync(path, 'r');
  try {
    let length = 0;
    for (let read = 1; read > 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    if (length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 1024} KiB`);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}
