import { parseYaml } from '@causeway/admission';
import { isJsonObject } from '@causeway/resources';
import {
  errorText,
  fileKey,
  readSettings,
  type KnownNames,
  type Setting,
  type Settings,
  type SettingValues,
} from '@causeway/runtime';
import { boundedText } from './bounded-text';
import { readSecretFiles } from './secret-files';
import { VERSION } from './version';

/** A program's settings as it runs with them, and as they may be shown. */
export interface LoadedConfig<S extends Settings> {
  readonly values: SettingValues<S>;
  readonly redacted: Readonly<Record<string, unknown>>;
  /** Variables with the product's prefix that are no settings of this program. */
  readonly unknownVariables: readonly string[];
}

/** What a program is started with. */
export interface ProgramStart {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The command line without Node and the program. */
  readonly args: readonly string[];
}

/** What a program says of its settings. */
export interface ProgramSettings<S extends Settings> extends KnownNames {
  /** What the program is, in a sentence. */
  readonly description: string;
  readonly settings: S;
  /** A line about each setting, for `--help`. */
  readonly help: Readonly<Record<string, string>>;
}

/**
 * Settings of the environment, of the files that it names for secrets (`DATABASE_URL_FILE`), and of the YAML file that
 * `CAUSEWAY_CONFIG` names. When anything is wrong it says all of
 * it on stderr, a line each, and ends the program with code 2: a control plane never runs half configured. `--help` and
 * `--version` are answered first, whatever the settings are, and end it with code 0.
 */
export function loadConfig<S extends Settings>(
  program: ProgramSettings<S>,
  { env, args }: ProgramStart,
): LoadedConfig<S> {
  handleArguments(program, args);
  const file = env['CAUSEWAY_CONFIG'] ? fileOf(env['CAUSEWAY_CONFIG']) : {};
  const secrets = readSecretFiles(program.settings, env);
  if (secrets.problems.length > 0) return exitWithProblems(secrets.problems);
  const read = readSettings(program.settings, { env: secrets.env, file }, program);
  if (read.ok) return { values: read.values, redacted: read.shown, unknownVariables: read.ignored };
  return exitWithProblems(read.problems);
}

function handleArguments<S extends Settings>(program: ProgramSettings<S>, [arg]: readonly string[]): void {
  if (arg === undefined) return;
  if (arg === '--help' || arg === '-h') return end(helpText(program));
  if (arg === '--version' || arg === '-V') return end(VERSION);
  exitWithProblems([`unknown argument ${arg}: settings are environment variables, --help lists them`]);
}

function end(text: string): never {
  process.stdout.write(`${text}\n`);
  process.exit(0);
}

function fileOf(path: string): Readonly<Record<string, unknown>> {
  try {
    return readSettingsFile(path);
  } catch (error) {
    return exitWithProblems([errorText(error)]);
  }
}

/** Says why the program cannot run and ends it with code 2. */
export function exitWithProblems(problems: readonly string[]): never {
  for (const problem of problems) process.stderr.write(`causeway: ${problem}\n`);
  process.exit(2);
}

/** Ends the program with the reason in one line. */
export function exitOnError(error: unknown): never {
  return exitWithProblems([errorText(error)]);
}

/** What `--help` shows: every setting with its default and what it is for. */
function helpText({
  description,
  settings,
  help,
}: {
  readonly description: string;
  readonly settings: Settings;
  readonly help: Readonly<Record<string, string>>;
}): string {
  const rows = Object.entries(settings).map(([name, setting]) => [name, defaultOf(setting), help[name] ?? '']);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd());
  return [
    description,
    '',
    'It is set by environment variables, or by the YAML file that CAUSEWAY_CONFIG names, in which',
    `CAUSEWAY_REST_PORT is ${fileKey('CAUSEWAY_REST_PORT')}. A secret may stand in a file that the variable with _FILE`,
    'behind its name names (DATABASE_URL_FILE). --help shows this, --version the version.',
    '',
    ...lines,
  ].join('\n');
}

function defaultOf({ fallback, optional }: Setting<unknown>): string {
  if (fallback !== undefined) return fallback === '' ? '-' : fallback;
  return optional ? '-' : 'required';
}

/** Largest file of settings. */
const MOST_KIB = 256;

/** What a YAML file of settings holds; throws with all that is to be said of it in one line. */
export function readSettingsFile(path: string): Readonly<Record<string, unknown>> {
  const [content = {}, ...more] = documentsIn(path);
  if (isJsonObject(content) && more.length === 0) return content;
  throw new Error(`${path} must hold an object of settings`);
}

function documentsIn(path: string): readonly unknown[] {
  try {
    return parseYaml(boundedText(path, MOST_KIB)).map(({ value }) => value);
  } catch (error) {
    throw new Error(`${path} cannot be read as YAML: ${errorText(error)}`, { cause: error });
  }
}
