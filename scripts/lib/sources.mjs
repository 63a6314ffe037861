import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE_FOLDERS = ['apps', 'libs', 'migrations'];
const BUILD_FILES = [
  'package.json',
  'tsconfig.json',
  'package-lock.json',
  'scripts/lib/build.mjs',
  'scripts/lib/bundle.mjs',
  'scripts/lib/shipped-packages.mjs',
];

/** A hash of everything that a build depends on: equal hashes, equal builds. */
export function hashOfSources(root) {
  const hash = createHash('sha256').update(process.versions.modules);
  for (const file of [...BUILD_FILES, ...SOURCE_FOLDERS.flatMap((folder) => sourcesIn(root, folder))]) {
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

function sourcesIn(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile() && /\.(ts|json|sql)$/.test(entry.name) && !/spec\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort();
}
