import { readFileSync } from 'node:fs';
import { errorText, readSettings, type Settings, type SettingValues } from '@causeway/runtime';
import { isJsonObject } from '@causeway/resources';
import { parse } from 'yaml';

/** A program's settings as it runs with them, and as they may be shown. */
export interface Configured<S extends Settings> {
  readonly values: SettingValues<S>;
  readonly shown: Readonly<Record<string, unknown>>;
}

/**
 * Settings of the environment and of the YAML file that `CAUSEWAY_CONFIG` names. When anything is wrong it says all of
 * it on stderr, a line each, and ends the program with code 2: a control plane never runs half configured.
 */
export function configure<S extends Settings>(
  settings: S,
  env: Readonly<Record<string, string | undefined>>,
): Configured<S> {
  const file = env['CAUSEWAY_CONFIG'] ? readFile(env['CAUSEWAY_CONFIG']) : {};
  const read = readSettings(settings, { env, file });
  if (read.ok) return read;
  return fail(read.problems);
}

function readFile(path: string): Readonly<Record<string, unknown>> {
  try {
    const content: unknown = parse(readFileSync(path, 'utf8')) ?? {};
    return isJsonObject(content) ? content : fail([`${path} must hold an object of settings`]);
  } catch (error) {
    return fail([`${path} cannot be read as YAML: ${errorText(error)}`]);
  }
}

/** Says why the program cannot run and ends it with code 2. */
export function fail(problems: readonly string[]): never {
  for (const problem of problems) process.stderr.write(`causeway: ${problem}\n`);
  process.exit(2);
}

/** The result, or the end of the program with the reason in one line. */
export async function orFail<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    return fail([errorText(error)]);
  }
}
