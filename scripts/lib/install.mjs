import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { diskFailure } from './disk-failure.mjs';
import { Failure } from './failure.mjs';
import { run } from './run.mjs';

/** What the programs and `npm start` need, and what else `npm run check` and `npm test` do: the dependencies, and all packages. */
export const RUN_PACKAGES = 'run';
export const ALL_PACKAGES = 'all';

/** Without a network npm would try for two minutes. */
const RETRIES = ['--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=2000'];
const OPTIONS = ['--no-audit', '--no-fund', '--loglevel=error', ...RETRIES];
const THERE = { remedy: 'put the repository on another disk' };
const NO_ANSWER =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/;

/** Whether `node_modules` holds these packages as the lock file says. Optional ones of other platforms may be absent. */
export function isInstalled(root, packages) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record) || existsSync(unfinishedMark(root))) return false;
  const wanted = readPackages(join(root, 'package-lock.json'));
  const held = readPackages(record);
  return Object.entries(wanted).every(([path, { version, dev, optional }]) => {
    if (path === '' || (optional && !held[path])) return true;
    if (packages === RUN_PACKAGES && dev) return true;
    return held[path]?.version === version;
  });
}

/**
 * Installs exactly what the lock file says. Where the packages to run are there, the others are added to them: programs that run at the
 * moment read files of theirs. Whatever was cut short is made anew.
 */
export async function install(root, packages, signal) {
  if (packages === ALL_PACKAGES && isInstalled(root, RUN_PACKAGES)) return addOthers(root, signal);
  // Of the packages to run the scripts do what is done without them: links of Postgres, checks, a quicker start of esbuild's own command.
  const options = packages === RUN_PACKAGES ? ['--omit=dev', '--ignore-scripts'] : ['--include=dev'];
  await runNpm(root, ['ci', ...options], signal);
}

/** npm takes a package that it unpacked in part for one that is there: the mark stays until all are. */
async function addOthers(root, signal) {
  writeFileSync(unfinishedMark(root), '');
  await runNpm(root, ['install', '--no-save', '--include=dev'], signal);
  rmSync(unfinishedMark(root));
}

async function runNpm(root, args, signal) {
  const { status, output } = await run('npm', [...args, ...OPTIONS], { cwd: root, signal });
  if (status !== 0) throw installFailure(output, { root, command: `npm ${args[0]}` });
}

function installFailure(output, { root, command }) {
  const full = diskFailure(output, { folder: root, doing: command, ...THERE });
  if (full) return full;
  const code = NO_ANSWER.exec(output)?.[1];
  if (code === undefined) return new Failure(`${command} failed:\n${output}`);
  const what = /request to (\S+) failed/.exec(output)?.[1] ?? 'the registry of npm packages';
  const proxy = 'the proxy that `npm config set proxy` names';
  return new Failure(`${command} could not reach ${what} (${code}): the first start needs the network, or ${proxy}`);
}

function unfinishedMark(root) {
  return join(root, 'node_modules', '.unfinished');
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}
