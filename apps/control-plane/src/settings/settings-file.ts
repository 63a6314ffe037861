import { parseYaml, type YamlDocument } from '@causeway/yaml';
import { isJsonObject } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import { boundedText } from './bounded-text';
import type { ReadText } from './file-snapshot';

/** Maximum size of a settings file, KiB. */
const MAX_KIB = 256;

/** A file of settings. */
export interface SettingsFile {
  readonly file: Readonly<Record<string, unknown>>;
  /** Returns the position of a key: `/etc/causeway/zone.yaml line 3`. */
  readonly formatSource: (key: string) => string;
}

/** Reads a YAML file of settings; throws with all problems in one line. */
export function readSettingsFile(path: string, read: ReadText = boundedText): SettingsFile {
  const [document, ...more] = documentsIn(path, read);
  const file = document?.value ?? {};
  if (!isJsonObject(file) || more.length > 0) throw new Error(`${path} must hold an object of settings`);
  return { file, formatSource: (key) => (document ? `${path} line ${document.locate(key).line}` : path) };
}

function documentsIn(path: string, read: ReadText): readonly YamlDocument[] {
  try {
    return parseYaml(read(path, MAX_KIB));
  } catch (error) {
    throw new Error(`${path} cannot be read as YAML: ${errorText(error)}`, { cause: error });
  }
}
