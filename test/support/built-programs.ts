import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Names a tree whose built programs are started in place of this one's (bench/compare.ts). */
export const PROGRAM_TREE = 'CAUSEWAY_PROGRAM_TREE';
/** Names a file that gets a line for each program that is started. */
export const PROGRAM_STARTS = 'CAUSEWAY_PROGRAM_STARTS';

/** Returns the tree whose programs are started: this one unless the environment names another. */
export function programTree(): string {
  return process.env[PROGRAM_TREE] ?? resolve(__dirname, '..', '..');
}

/** Returns the main file of a built program, to be started at once. */
export function programToStart(app: 'agent' | 'ctl' | 'global' | 'zone', tree = programTree()): string {
  const file = join(tree, 'dist', 'apps', app, 'src', 'main.js');
  const starts = process.env[PROGRAM_STARTS];
  if (starts !== undefined) appendFileSync(starts, `${file}\n`);
  return file;
}

/** Names of settings in the programs of a tree, by tree. */
const namesByTree = new Map<string, ReadonlySet<string>>();

/** Returns the settings that the programs of a tree know: an older one refuses those that came later (bench/compare.ts). */
export function selectKnownSettings(
  env: Readonly<Record<string, string>>,
  tree: string,
): Readonly<Record<string, string>> {
  if (process.env[PROGRAM_TREE] !== tree) return env;
  const names = namesByTree.get(tree) ?? new Set(listNames(join(tree, 'dist')));
  namesByTree.set(tree, names);
  return Object.fromEntries(Object.entries(env).filter(([key]) => !key.startsWith('CAUSEWAY_') || names.has(key)));
}

function listNames(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').match(/\bCAUSEWAY_[A-Z_]+/g) ?? []);
}
