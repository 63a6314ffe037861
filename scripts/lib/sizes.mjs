import { posix } from 'node:path';

/** Most files of one folder, specs not counted. Lengths of files and functions are ESLint's (`max-lines`). */
const MAX_FILES = 18;

/**
 * Folders with more files than are easy to survey, and exceptions that no longer apply.
 * @param {readonly string[]} paths TypeScript files, relative to the root, with slashes
 * @param {Readonly<Record<string, string>>} exceptions a reason for each folder that may have more
 */
export function sizeFindings(paths, exceptions) {
  const counts = new Map();
  for (const path of paths.filter((each) => !each.endsWith('.spec.ts')))
    counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  const large = [...counts].filter(([, count]) => count > MAX_FILES);
  const unused = Object.keys(exceptions).filter((folder) => !large.some(([path]) => path === folder));
  return [
    ...large
      .filter(([path]) => !Object.hasOwn(exceptions, path))
      .map(([path, count]) => `${path}: the folder has ${count} files, at most ${MAX_FILES} are easy to survey`),
    ...unused.map((path) => `${path}: is an exception and needs none; remove it from scripts/lib/size-exceptions.mjs`),
  ];
}
