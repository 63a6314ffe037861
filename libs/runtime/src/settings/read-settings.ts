import { nearest } from '@causeway/resources';
import { decodeValues } from './decode';
import { suggestedName, isKubernetesVariable } from './stray-variables';
import type { Settings, SettingValues } from './settings-types';

/** Where values come from; the environment wins over the file. */
export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Content of the YAML file: keys are the variables' names in camel case without the prefix (`restPort`). */
  readonly file?: Readonly<Record<string, unknown>>;
}

/** What is known of names that are not among the settings. */
export interface KnownNames {
  /** Former names of settings and what they are called now. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Names that other programs of the product read: never a slip of the pen. */
  readonly elsewhere?: RegExp;
}

export type SettingsResult<S extends Settings> =
  | {
      readonly ok: true;
      readonly values: SettingValues<S>;
      readonly shown: Readonly<Record<string, unknown>>;
      /** Variables with the product's prefix that are no settings here; they change nothing. */
      readonly ignored: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly string[] };

const PREFIX = 'CAUSEWAY_';

/**
 * Reads and checks all settings at once. Problems are one line each: a missing or malformed value, an unknown key of the
 * file, a variable that is likely meant as a setting. Every other unknown variable with the product's prefix is ignored
 * and told, since the environment has variables that nobody wrote for this program: those of other programs of the
 * product, and those that Kubernetes injects for a Service. Variables without the prefix are none of its business.
 */
export function readSettings<S extends Settings>(
  settings: S,
  sources: SettingSources,
  others: KnownNames = {},
): SettingsResult<S> {
  const env = Object.fromEntries(
    Object.entries(sources.env).filter(([name, value]) => value && !isKubernetesVariable(name, value)),
  );
  const stray = strayVariables(settings, env, others);
  const problems = [...stray.problems, ...unknownFileKeys(settings, sources.file ?? {}, others)];
  const values: Record<string, unknown> = {};
  const shown: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const given = (env[name] ?? fileText(sources.file?.[fileKey(name)])) || setting.fallback;
    if (given === undefined) {
      if (!setting.optional) problems.push(`${name} is missing`);
      continue;
    }
    const parsed = setting.parse(given);
    if (!parsed.ok)
      problems.push(`${name}: ${parsed.reason}; got ${setting.secret ? 'a value that is not shown' : `"${given}"`}`);
    else [values[name], shown[name]] = [parsed.value, setting.secret ? '*****' : given];
  }
  if (problems.length > 0) return { ok: false, problems };
  const injected = Object.keys(sources.env).filter(
    (name) => name.startsWith(PREFIX) && sources.env[name] && !(name in env),
  );
  return { ok: true, values: decodeValues<S>(values), shown, ignored: [...stray.ignored, ...injected] };
}

/** The key of a setting in the YAML file: `CAUSEWAY_REST_PORT` is `restPort`. */
export function fileKey(name: string): string {
  const bare = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  return bare.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function strayVariables(
  settings: Settings,
  env: SettingSources['env'],
  { renamed = {}, elsewhere }: KnownNames,
): { readonly problems: readonly string[]; readonly ignored: readonly string[] } {
  const known = Object.keys(settings);
  const problems: string[] = [];
  const ignored: string[] = [];
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || known.includes(name)) continue;
    const meant = elsewhere?.test(name) ? undefined : suggestedName(name, known);
    const successor = renamed[name];
    if (successor !== undefined) problems.push(`${name} is called ${successor} now`);
    else if (meant === undefined) ignored.push(name);
    else problems.push(`${name} is not a known environment variable; did you mean ${meant}?`);
  }
  return { problems, ignored };
}

function unknownFileKeys(
  settings: Settings,
  file: Readonly<Record<string, unknown>>,
  { renamed = {} }: KnownNames,
): string[] {
  const known = Object.keys(settings).map(fileKey);
  const successors = new Map(Object.entries(renamed).map(([from, to]) => [fileKey(from), fileKey(to)]));
  return Object.keys(file)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const [successor, guess] = [successors.get(key), nearest(key, known)];
      if (successor !== undefined) return `${key} of the configuration file is called ${successor} now`;
      return `${key} is not a known key of the configuration file${guess === undefined ? '' : `; did you mean ${guess}?`}`;
    });
}

function fileText(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(String).join(',');
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}
