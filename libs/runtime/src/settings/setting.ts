/** A parsed value, or the problem of the text. */
export type ParseResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

/** Values that a setting accepts, for its reference and the schema of settings files. */
export type SettingForm =
  | { readonly type: 'text' | 'list' | 'flag' | 'port' }
  | { readonly type: 'count'; readonly least: number }
  | { readonly type: 'word'; readonly words: readonly string[] }
  /** A duration such as `10s`. */
  | { readonly type: 'duration'; readonly range?: readonly [least: string, most: string] };

/** Triggers of a reload without a restart: a new value, or new content of the file that the value names. */
export type Reload = 'value' | 'content';

/** One setting: its parser, its default, and whether its value is shown. */
export interface Setting<T> {
  readonly form: SettingForm;
  readonly parse: (text: string) => ParseResult<T>;
  /** Text used if none is given; undefined means the setting is required. */
  readonly fallback: string | undefined;
  readonly optional: boolean;
  readonly secret: boolean;
  /** Whether an empty text is parsed, and so refused; otherwise it counts as not given. */
  readonly refusesEmpty?: boolean;
  /** Absent: a change takes effect at the next start. */
  readonly reload?: Reload;
}

const good = <T>(value: T): ParseResult<T> => ({ ok: true, value });
const bad = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });

function setting<T>(form: SettingForm, parse: Setting<T>['parse'], fallback?: string): Setting<T> {
  return { form, parse, fallback, optional: false, secret: false };
}

/** Returns the setting with the value `undefined` if nothing is given. */
export function optional<T>(inner: Setting<T>): Setting<T | undefined> {
  return { ...inner, optional: true };
}

/** Returns the setting with its value always printed as `*****`. */
export function secret<T>(inner: Setting<T>): Setting<T> {
  return { ...inner, secret: true };
}

/** Returns the setting with changes taking effect while the program runs. */
export function reloaded<T>(inner: Setting<T>, reload: Reload = 'value'): Setting<T> {
  return { ...inner, reload };
}

/** A text that is not empty and for which `fault` returns no problem. */
export function text(
  fallback?: string,
  fault: (given: string) => string | undefined = () => undefined,
): Setting<string> {
  const parse = (given: string): ParseResult<string> => {
    const reason = given === '' ? 'must not be empty' : fault(given);
    return reason === undefined ? good(given) : bad(reason);
  };
  return setting({ type: 'text' }, parse, fallback);
}

/** A text for which `fault` returns no problem; an empty one is checked too and does not mean the default. */
export function checkedText(fault: (given: string) => string | undefined, fallback?: string): Setting<string> {
  const parse = (given: string): ParseResult<string> => {
    const reason = fault(given);
    return reason === undefined ? good(given) : bad(reason);
  };
  const checked = setting({ type: 'text' }, parse, fallback);
  return fallback === undefined ? checked : { ...checked, refusesEmpty: true };
}

/** A TCP or UDP port; 0 lets the system choose a free one. */
export function port(fallback?: number): Setting<number> {
  const parse = (given: string): ParseResult<number> =>
    /^\d{1,5}$/.test(given) && Number(given) <= 65535 ? good(Number(given)) : bad('must be a port, 0 to 65535');
  return setting({ type: 'port' }, parse, fallback?.toString());
}

/** A whole number, at least `least`. */
export function count(fallback: number, least = 0): Setting<number> {
  const parse = (given: string): ParseResult<number> =>
    /^\d{1,15}$/.test(given) && Number(given) >= least
      ? good(Number(given))
      : bad(`must be a whole number of at least ${least}`);
  return setting({ type: 'count', least }, parse, fallback.toString());
}

/** Returns a setting with a fixed set of words. */
export function oneOf<const T extends string>(words: readonly T[], fallback?: T): Setting<T> {
  const parse = (given: string): ParseResult<T> => {
    const word = words.find((w) => w === given);
    return word === undefined ? bad(`must be one of ${words.join(', ')}`) : good(word);
  };
  return setting({ type: 'word', words }, parse, fallback);
}

/** `true` or `false`. */
export function flag(fallback: boolean): Setting<boolean> {
  const parse = (given: string): ParseResult<boolean> =>
    given === 'true' || given === 'false' ? good(given === 'true') : bad('must be true or false');
  return setting({ type: 'flag' }, parse, String(fallback));
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration such as `200ms`, `3s`, `5m`, `1h`, optionally limited to `range`; the value is in ms. */
export function duration(fallback?: string, range?: readonly [least: string, most: string]): Setting<number> {
  const [least = 0, most = Infinity] = range?.map((end) => parseDuration(end) ?? 0) ?? [];
  const parse = (given: string): ParseResult<number> => {
    const time = parseDuration(given);
    if (time === undefined) return bad('must be a time such as 200ms, 3s, 5m or 1h');
    return time < least || time > most ? bad(`must be ${range?.join(' to ') ?? ''}`) : good(time);
  };
  return setting({ type: 'duration', ...(range && { range }) }, parse, fallback);
}

function parseDuration(given: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h)$/.exec(given) ?? [];
  return digits === undefined ? undefined : Number(digits) * (UNITS[unit] ?? 1);
}

/** A comma-separated list; empty parts are dropped. */
export function list(fallback = ''): Setting<readonly string[]> {
  const parse = (given: string): ParseResult<readonly string[]> =>
    good(
      given
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    );
  return setting({ type: 'list' }, parse, fallback);
}

/** The settings of a program by the name of their environment variable. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of settings, by the same names. */
export type SettingValues<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };
