import { errorText, fileKey, type Settings, type SettingSources } from '@causeway/runtime';
import { boundedText } from './bounded-text';

/** Largest file of a secret. */
const MAX_KIB = 64;

/** The sources with what files of secrets say in place of their names; what is wrong with them, a line each. */
export interface ReadSecrets {
  readonly sources: SettingSources;
  readonly problems: readonly string[];
}

/** One source of settings, environment or file, as secrets are looked for in it. */
interface SecretSource {
  readonly values: Record<string, unknown>;
  /** Returns the file's name of a setting. */
  readonly formatFileVariable: (variable: string) => string;
  /** Returns a name as messages show it. */
  readonly shownAs: (name: string) => string;
}

/**
 * Reads the secrets that are given as files: `X_FILE` of the environment, or its key of the YAML file (`databaseUrlFile`), names a file
 * that holds the value of a secret setting `X`, without the white space around it. An empty file is as if nothing was given; `X`
 * beside `X_FILE` in one source is refused, and so is a file that cannot be read or holds more than 64 KiB. Where `X_FILE` is a
 * setting of its own it is left alone.
 */
export function readSecretFiles(settings: Settings, sources: SettingSources): ReadSecrets {
  const { file, formatSource } = sources;
  const env = { ...sources.env };
  const keys: Record<string, unknown> = { ...file };
  const shownKey = (key: string): string => (formatSource ? `${formatSource(key)}: ${key}` : key);
  const problems = [
    ...takeFiles(settings, { values: env, formatFileVariable: (variable) => variable, shownAs: (name) => name }),
    ...takeFiles(settings, { values: keys, formatFileVariable: fileKey, shownAs: shownKey }),
  ];
  const place = formatSource && ((key: string) => formatSource(key in (file ?? {}) ? key : `${key}File`));
  return { sources: { ...sources, env, ...(file && { file: keys }), ...(place && { formatSource: place }) }, problems };
}

/** Puts contents in place of names of files; a line for each that is wrong. */
function takeFiles(settings: Settings, { values, formatFileVariable, shownAs }: SecretSource): readonly string[] {
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
        values[own] = boundedText(path, MAX_KIB).trim();
      } catch (error) {
        problems.push(`${shownAs(ofFile)}: "${path}" cannot be read: ${errorText(error)}`);
      }
  }
  return problems;
}
