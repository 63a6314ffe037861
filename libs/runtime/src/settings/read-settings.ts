import { nearest } from '@causeway/resources';
import { decodeValues } from './decode';
import type { Settings, SettingValues } from './settings-types';

/** Where values come from; the environment wins over the file. */
export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Content of the YAML file: keys are the variables' names in camel case without the prefix (`restPort`). */
  readonly file?: Readonly<Record<string, unknown>>;
}

export type SettingsRead<S extends Settings> =
  | { readonly ok: true; readonly values: SettingValues<S>; readonly shown: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problems: readonly string[] };

const PREFIX = 'CAUSEWAY_';

/**
 * Reads and checks all settings at once. Problems are one line each: a missing or malformed value, or an unknown key
 * with the likely meaning. Variables without the product's prefix that no setting names are none of its business.
 */
export function readSettings<S extends Settings>(settings: S, sources: SettingSources): SettingsRead<S> {
  const problems = unknownKeys(settings, sources);
  const values: Record<string, unknown> = {};
  const shown: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const given = sources.env[name] || fileText(sources.file?.[fileKey(name)]) || setting.fallback;
    if (given === undefined) {
      if (!setting.optional) problems.push(`${name} is missing`);
      continue;
    }
    const parsed = setting.parse(given);
    if (!parsed.ok)
      problems.push(`${name}: ${parsed.reason}; got ${setting.secret ? 'a value that is not shown' : `"${given}"`}`);
    else [values[name], shown[name]] = [parsed.value, setting.secret ? '*****' : given];
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values: decodeValues<S>(values), shown };
}

/** The key of a setting in the YAML file: `CAUSEWAY_REST_PORT` is `restPort`. */
export function fileKey(name: string): string {
  const bare = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  return bare.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function unknownKeys(settings: Settings, sources: SettingSources): string[] {
  const known = Object.keys(settings);
  const stray = Object.keys(sources.env).filter(
    (key) => key.startsWith(PREFIX) && sources.env[key] && !known.includes(key),
  );
  const knownInFile = known.map(fileKey);
  const strayInFile = Object.keys(sources.file ?? {}).filter((key) => !knownInFile.includes(key));
  return [
    ...stray.map((key) => unknownKey(key, known, 'environment variable')),
    ...strayInFile.map((key) => unknownKey(key, knownInFile, 'key of the configuration file')),
  ];
}

function unknownKey(key: string, known: readonly string[], what: string): string {
  const guess = nearest(key, known);
  return `${key} is not a known ${what}${guess === undefined ? '' : `; did you mean ${guess}?`}`;
}

function fileText(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(String).join(',');
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}
