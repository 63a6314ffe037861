import {
  errorText,
  readSettings,
  type KnownNames,
  type Settings,
  type SettingsResult,
  type SettingValues,
} from '@causeway/runtime';
import { FileSnapshot, type ReadText } from './file-snapshot';
import { readSecretFiles } from './secret-files';
import { readSettingsFile, type SettingsFile } from './settings-file';
import { importCommand, IMPORT_USAGE, type ImportCommand } from './import-command';
import { helpText, type DescribedSettings } from './settings-reference';
import { VERSION } from '../version';

/** A program's settings, as used and in a form without secrets. */
export interface LoadedConfig<S extends Settings> {
  readonly values: SettingValues<S>;
  readonly redacted: Readonly<Record<string, unknown>>;
  /** Variables with the product's prefix that are not settings of this program. */
  readonly unknownVariables: readonly string[];
  /** Command to run instead of serving. */
  readonly command?: ImportCommand | undefined;
  /** Declarations of the settings. */
  readonly settings: S;
  /** Reads all sources again; returns the former result, the same object, while no file is another. */
  readonly reread: () => SettingsResult<S>;
}

/** Arguments and environment of a program. */
export interface ProgramStart {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Command line arguments after the program. */
  readonly args: readonly string[];
}

/** Settings of a program with their descriptions. */
export interface ProgramSettings<S extends Settings> extends KnownNames, DescribedSettings {
  readonly settings: S;
}

/**
 * Loads settings from the environment, from the YAML file in `CAUSEWAY_CONFIG`, and from the files that either names for secrets
 * (`DATABASE_URL_FILE`, `databaseUrlFile`). Writes all problems to stderr, one line each, and ends the program with code 2: a control plane
 * never runs with invalid settings. `--help` and `--version` are answered first, whatever the settings are, with code 0.
 */
export function loadConfig<S extends Settings>(
  program: ProgramSettings<S>,
  { env, args }: ProgramStart,
): LoadedConfig<S> {
  const command = handleArguments(program, args);
  const reread = createReread(program, env);
  const read = reread();
  if (!read.ok) return exitWithProblems(read.problems);
  const { settings } = program;
  return { command, settings, values: read.values, redacted: read.shown, unknownVariables: read.ignored, reread };
}

/** Returns a function that reads all sources. They are parsed and checked only when a file is another, which costs far more than to read them. */
function createReread<S extends Settings>(
  program: ProgramSettings<S>,
  env: ProgramStart['env'],
): () => SettingsResult<S> {
  let last: { readonly files: FileSnapshot; readonly result: SettingsResult<S> } | undefined;
  return () => {
    if (last?.files.areSame() === true) return last.result;
    const files = new FileSnapshot();
    last = { files, result: readAll(program, env, files.read) };
    return last.result;
  };
}

/** Reads all sources. */
function readAll<S extends Settings>(
  program: ProgramSettings<S>,
  env: ProgramStart['env'],
  read: ReadText,
): SettingsResult<S> {
  let config: SettingsFile | undefined;
  try {
    config = env['CAUSEWAY_CONFIG'] ? readSettingsFile(env['CAUSEWAY_CONFIG'], read) : undefined;
  } catch (error) {
    return { ok: false, problems: [errorText(error)] };
  }
  const { sources, problems } = readSecretFiles(program.settings, { env, ...config }, read);
  if (problems.length > 0) return { ok: false, problems };
  return readSettings(program.settings, sources, program);
}

function handleArguments<S extends Settings>(
  program: ProgramSettings<S>,
  [arg, ...rest]: readonly string[],
): ImportCommand | undefined {
  if (arg === undefined) return undefined;
  if (arg === 'import') return importCommand(rest) ?? exitWithProblems([IMPORT_USAGE]);
  if (arg === '--help' || arg === '-h') return end(helpText(program));
  if (arg === '--version' || arg === '-V') return end(VERSION);
  return exitWithProblems([`unknown argument ${arg}: settings are environment variables, --help lists them`]);
}

function end(text: string): never {
  process.stdout.write(`${text}\n`);
  process.exit(0);
}

/** Writes the problems to stderr and ends the program with code 2. */
export function exitWithProblems(problems: readonly string[]): never {
  for (const problem of problems) process.stderr.write(`causeway: ${problem}\n`);
  process.exit(2);
}

/** Ends the program with the reason in one line. */
export function exitOnError(error: unknown): never {
  return exitWithProblems([errorText(error)]);
}
