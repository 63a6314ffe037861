/** CPU seconds that the tests of each folder may take (tools/test-budget.json), and what a run took of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.mjs';

/** The suites of the file: the tests of `npm test`, and those of `npm run test:long`. */
export function readBudget(suite) {
  return JSON.parse(readFileSync(join(root, 'tools', 'test-budget.json'), 'utf8'))[suite];
}

/** The folder that a test file is counted to: `libs/kds`, `test/agent`. */
export function folderOf(file) {
  return file.split('/').slice(0, 2).join('/');
}

/** Sums what tools/jest-environment.js wrote, a line `["test/agent/dial.spec.ts",12.5]` a test file, by folder. */
export function sumByFolder(lines) {
  const seconds = new Map();
  for (const line of lines.split('\n').filter(Boolean)) {
    const [file, taken] = JSON.parse(line);
    const folder = folderOf(file);
    seconds.set(folder, (seconds.get(folder) ?? 0) + taken);
  }
  return seconds;
}

/** What the same tests take of CPU beside other work, in parts of what they take on a quiet machine: caches and cores are shared. */
const BUSY = 1.25;

/**
 * Compares what folders took with what they may take. `ok` is false if the sum of all is a quarter above the sum of the budget, or a folder has no
 * budget: a folder may take more while another takes less. `lines` say what is above to people.
 */
export function compareWithBudget(taken, budget) {
  const sum = (values) => Math.round([...values].reduce((total, each) => total + each, 0));
  const [took, may] = [sum(taken.values()), sum(Object.values(budget))];
  const unknown = [...taken.keys()].filter((folder) => !(folder in budget)).sort();
  const above = [...taken]
    .filter(([folder, seconds]) => seconds > (budget[folder] ?? Infinity))
    .sort(([, a], [, b]) => b - a)
    .map(([folder, seconds]) => `${folder} ${Math.round(seconds)} of ${budget[folder]}`);
  const lines = [`test files took ${took} s of CPU; tools/test-budget.json allows ${may}`];
  if (took > may) lines.push(`the tests take more than their budget: ${above.join(', ')}`);
  else if (above.length > 0) lines.push(`above their own budget, within that of all: ${above.join(', ')}`);
  if (unknown.length > 0) lines.push(`folders without a budget in tools/test-budget.json: ${unknown.join(', ')}`);
  return { ok: took <= may * BUSY && unknown.length === 0, lines };
}
