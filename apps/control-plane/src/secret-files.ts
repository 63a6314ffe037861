import { errorText, type Settings, type SettingSources } from '@causeway/runtime';
import { boundedText } from './bounded-text';

/** Largest file of a secret. */
const MOST_KIB = 64;

/** The environment with what its files say in place of their names; what is wrong with them, a line each. */
export interface ReadSecrets {
  readonly env: SettingSources['env'];
  readonly problems: readonly string[];
}

/**
 * Reads the secrets that are given as files: `X_FILE` names a file that holds the value of a secret setting `X`, without
 * the white space around it. An empty file is as if nothing was given; `X` beside `X_FILE` is refused, and so is a file that
 * cannot be read or holds more than 64 KiB. Where `X_FILE` is a setting of its own it is left alone.
 */
export function readSecretFiles(settings: Settings, env: SettingSources['env']): ReadSecrets {
  const left: Record<string, string | undefined> = { ...env };
  const problems: string[] = [];
  for (const [name, { secret }] of Object.entries(settings)) {
    const variable = `${name}_FILE`;
    const path = left[variable];
    if (!secret || variable in settings || path === undefined || path === '') continue;
    delete left[variable];
    if (left[name]) problems.push(`${name} and ${variable}: give one of them`);
    else
      try {
        left[name] = boundedText(path, MOST_KIB).trim();
      } catch (error) {
        problems.push(`${variable}: "${path}" cannot be read: ${errorText(error)}`);
      }
  }
  return { env: left, problems };
}
