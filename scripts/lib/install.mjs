import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diskFailure } from './disk-failure.mjs';
import { Failure } from './failure.mjs';
import { run } from './run.mjs';

/** Whether `node_modules` holds what the lock file says. Optional packages of other platforms may be absent. */
export function isInstalled(root) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = readPackages(join(root, 'package-lock.json'));
  const held = readPackages(record);
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '' || (optional && !held[path])) return true;
    return held[path]?.version === version;
  });
}

const THERE = { remedy: 'put the repository on another disk' };

/** Installs exactly what the lock file says. */
export async function install(root, signal) {
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, output } = await run('npm', args, { cwd: root, signal });
  if (status !== 0)
    throw diskFailure(output, { folder: root, doing: 'npm ci', ...THERE }) ?? new Failure(`npm ci failed:\n${output}`);
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}
