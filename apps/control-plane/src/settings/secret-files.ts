import { errorText, fileKey, type Settings, type SettingSources } from '@causeway/runtime';
import { boundedText } from './bounded-text';
import type { ReadText } from './file-snapshot';

/** Maximum size of a file with a secret, KiB. */
const MAX_KIB = 64;

/** Sources with names of secret files replaced by their content, and the problems, one line each. */
export interface ReadSecrets {
  readonly sources: SettingSources;
  readonly problems: readonly string[];
}

/** A source of settings, environment or file, to be searched for secret files. */
interface SecretSource {
  readonly values: Record<string, unknown>;
  /** Returns the name of the setting that holds the path for a variable. */
  readonly formatFileVariable: (variable: string) => string;
  /** Returns a name as messages show it. */
  readonly shownAs: (name: string) => string;
  readonly read: ReadText;
}

/**
 * Reads secrets from files: `X_FILE` in the environment, or its key in the YAML file (`databaseUrlFile`), is the path
 * of a file with the value of a secret setting `X`, without surrounding white space. An empty file means the setting is
 * not given, and so does a missing one whose path stands after a `-`; refuses `X` together with `X_FILE` in one source,
 * unreadable files, and files of more than 64 KiB. Ignores `X_FILE` if that is a setting of its own.
 */
export function readSecretFiles(
  settings: Settings,
  sources: SettingSources,
  read: ReadText = boundedText,
): ReadSecrets {
  const { file, formatSource } = sources;
  const env = { ...sources.env };
  const keys: Record<string, unknown> = { ...file };
  const shownKey = (key: string): string => (formatSource ? `${formatSource(key)}: ${key}` : key);
  const problems = [
    ...takeFiles(settings, { values: env, formatFileVariable: (variable) => variable, shownAs: (name) => name, read }),
    ...takeFiles(settings, { values: keys, formatFileVariable: fileKey, shownAs: shownKey, read }),
  ];
  const place = formatSource && ((key: string) => formatSource(key in (file ?? {}) ? key : `${key}File`));
  return { sources: { ...sources, env, ...(file && { file: keys }), ...(place && { formatSource: place }) }, problems };
}

/** Replaces paths by contents; returns one line per problem. */
function takeFiles(settings: Settings, { values, formatFileVariable, shownAs, read }: SecretSource): readonly string[] {
  const problems: string[] = [];
  for (const [name, { secret }] of Object.entries(settings)) {
    const variable = `${name}_FILE`;
    const [own, ofFile] = [formatFileVariable(name), formatFileVariable(variable)];
    const path = values[ofFile];
    if (!secret || variable in settings || path === undefined || path === null || path === '') continue;
    delete values[ofFile];
    if (typeof path !== 'string') problems.push(`${shownAs(ofFile)}: must be the path of a file`);
    else if (values[own]) problems.push(`${shownAs(own)} and ${ofFile}: give one of them`);
    else
      try {
        values[own] = readSecret(path, read);
      } catch (error) {
        problems.push(`${shownAs(ofFile)}: "${path}" cannot be read: ${errorText(error)}`);
      }
  }
  return problems;
}

/** Returns the value in a file; empty if a file that may be missing (`-/path`, as in units of systemd) is not there. */
function readSecret(path: string, read: ReadText): string {
  if (!path.startsWith('-')) return read(path, MAX_KIB).trim();
  try {
    return read(path.slice(1), MAX_KIB).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
