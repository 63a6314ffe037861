import { errorText, readSettings, type KnownNames, type Settings, type SettingValues } from '@causeway/runtime';
import { helpText } from './help-text';
import { VERSION } from './version';
import { readSettingsFile } from './settings-file';

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
 * Settings of the environment and of the YAML file that `CAUSEWAY_CONFIG` names. When anything is wrong it says all of
 * it on stderr, a line each, and ends the program with code 2: a control plane never runs half configured. `--help` and
 * `--version` are answered first, whatever the settings are, and end it with code 0.
 */
export function loadConfig<S extends Settings>(
  program: ProgramSettings<S>,
  { env, args }: ProgramStart,
): LoadedConfig<S> {
  handleArguments(program, args);
  const file = env['CAUSEWAY_CONFIG'] ? fileOf(env['CAUSEWAY_CONFIG']) : {};
  const read = readSettings(program.settings, { env, file }, program);
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
