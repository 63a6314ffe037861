import { nearest } from '@causeway/resources';
import { decodeValues } from './decode';
import type { Settings, SettingValues } from './setting';

/** Sources of values; the environment has precedence over the file. */
export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Content of the YAML file: keys are the variables' names in camel case without the prefix (`restPort`). */
  readonly file?: Readonly<Record<string, unknown>>;
  /** Returns the position of a key in the file, for messages: `causeway.yaml line 3`. */
  readonly formatSource?: (key: string) => string;
}

/** Known names that are not settings of this program. */
export interface KnownNames {
  /** New names of renamed settings, by former name. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Removed settings, with what users do instead. */
  readonly removed?: Readonly<Record<string, string>>;
  /** Names that other programs of the product read; never treated as typing errors. */
  readonly elsewhere?: RegExp;
}

export type SettingsResult<S extends Settings> =
  | {
      readonly ok: true;
      readonly values: SettingValues<S>;
      readonly shown: Readonly<Record<string, unknown>>;
      /** Variables with the product's prefix that are not settings here; they have no effect. */
      readonly ignored: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly string[] };

const PREFIX = 'CAUSEWAY_';

/**
 * Reads and checks all settings at once. Problems are one line each: a missing or malformed value, an unknown key of
 * the file, a variable that resembles a setting. Every other unknown variable with the product's prefix is ignored and
 * reported: it may belong to other programs of the product, or be injected by Kubernetes for a Service. Variables
 * without the prefix are not read.
 */
export function readSettings<S extends Settings>(
  settings: S,
  sources: SettingSources,
  others: KnownNames = {},
): SettingsResult<S> {
  const env = Object.fromEntries(
    Object.entries(sources.env).filter(
      ([name, value = '']) => (value !== '' || settings[name]?.refusesEmpty) && !isKubernetesVariable(name, value),
    ),
  );
  const unknown = unknownVariables(settings, env, others);
  const problems = [...unknown.problems, ...unknownFileKeys(settings, sources, others)];
  const values: Record<string, unknown> = {};
  const shown: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const text = env[name] ?? fileText(sources.file?.[fileKey(name)]);
    const given = text === '' && setting.refusesEmpty !== true ? setting.fallback : (text ?? setting.fallback);
    if (given === undefined) {
      if (!setting.optional) problems.push(`${name} is missing`);
      continue;
    }
    const parsed = setting.parse(given);
    if (!parsed.ok)
      problems.push(
        `${env[name] === undefined ? ofFile(sources, name) : name}: ${parsed.reason}; got ${setting.secret ? 'a value that is not shown' : `"${given}"`}`,
      );
    else [values[name], shown[name]] = [parsed.value, setting.secret ? '*****' : given];
  }
  if (problems.length > 0) return { ok: false, problems };
  const injected = Object.keys(sources.env).filter(
    (name) => name.startsWith(PREFIX) && sources.env[name] && !(name in env),
  );
  return { ok: true, values: decodeValues<S>(values), shown, ignored: [...unknown.ignored, ...injected] };
}

/** Returns the key of a setting in the YAML file: `restPort` for `CAUSEWAY_REST_PORT`. */
export function fileKey(name: string): string {
  const bare = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  return bare.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function unknownVariables(
  settings: Settings,
  env: SettingSources['env'],
  { renamed = {}, removed = {}, elsewhere }: KnownNames,
): { readonly problems: readonly string[]; readonly ignored: readonly string[] } {
  const known = Object.keys(settings);
  const problems: string[] = [];
  const ignored: string[] = [];
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || known.includes(name)) continue;
    const meant = elsewhere?.test(name) ? undefined : suggestedName(name, known);
    const successor = renamed[name];
    if (successor !== undefined) problems.push(`${name} is called ${successor} now`);
    else if (removed[name] !== undefined) problems.push(`${name} is gone: ${removed[name]}`);
    else if (meant === undefined) ignored.push(name);
    else problems.push(`${name} is not a known environment variable; did you mean ${meant}?`);
  }
  return { problems, ignored };
}

/** Returns the name of a setting in messages, if the file sets it or if it is missing. */
function ofFile({ file = {}, formatSource }: SettingSources, name: string): string {
  const key = fileKey(name);
  return key in file && formatSource ? `${formatSource(key)}: ${key}` : name;
}

function unknownFileKeys(
  settings: Settings,
  { file = {}, formatSource }: SettingSources,
  { renamed = {}, removed = {} }: KnownNames,
): string[] {
  const known = Object.keys(settings).map(fileKey);
  const successors = new Map(Object.entries(renamed).map(([from, to]) => [fileKey(from), fileKey(to)]));
  const gone = new Map(Object.entries(removed).map(([name, advice]) => [fileKey(name), advice]));
  return Object.keys(file)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const [successor, guess] = [successors.get(key), nearest(key, known)];
      const what = formatSource ? `${formatSource(key)}: ${key}` : `${key} of the configuration file`;
      if (successor !== undefined) return `${what} is called ${successor} now`;
      if (gone.has(key)) return `${what} is gone: ${gone.get(key)}`;
      return `${what} is not a known setting${guess === undefined ? '' : `; did you mean ${guess}?`}`;
    });
}

function fileText(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(String).join(',');
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}

/**
 * Whether Kubernetes injected the variable for a Service of the namespace: `X_SERVICE_HOST`, `X_SERVICE_PORT_REST`,
 * `X_PORT_80_TCP_ADDR`, or `X_PORT` with an address as its value. None of these is a setting.
 */
function isKubernetesVariable(name: string, value: string): boolean {
  return (
    /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (/_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value))
  );
}

/**
 * Returns the known name of which `name` is a likely typing error: the same words joined or ordered differently, its
 * first words, or all words but one that is nearly the same. Merely similar names do not count: a variable of another
 * program must not stop this one.
 */
function suggestedName(name: string, known: readonly string[]): string | undefined {
  const given = name.split('_');
  return known.find((candidate) => isTypo(given, candidate.split('_')));
}

function isTypo(given: readonly string[], known: readonly string[]): boolean {
  if (given.join('') === known.join('')) return true;
  if ([...given].sort().join('_') === [...known].sort().join('_')) return true;
  // The product's prefix and two words.
  if (given.length >= 3 && given.length < known.length) return given.every((word, i) => word === known[i]);
  if (given.length !== known.length) return false;
  const [[word = '', wanted = ''] = [], ...others] = given.flatMap((each, i) =>
    each === known[i] ? [] : [[each, known[i] ?? '']],
  );
  return others.length === 0 && isAlike(word, wanted);
}

function isAlike(word: string, wanted: string): boolean {
  if (word.length >= 3 && (wanted.startsWith(word) || word.startsWith(wanted))) return true;
  return Math.abs(word.length - wanted.length) <= 2 && nearest(word, [wanted]) !== undefined;
}
