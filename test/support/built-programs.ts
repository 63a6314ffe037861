import { appendFileSync } from 'node:fs';
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
