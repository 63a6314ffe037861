import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..');

/** A version of the programs. */
export interface Version {
  readonly label: 'old' | 'new';
  readonly revision: string;
  /** The tree that it is built in. */
  readonly root: string;
}

/** The version of the working tree, which must be built. */
export const newVersion: Version = { label: 'new', revision: 'working tree', root: ROOT };

/** Returns the revision that landed last: the version before the one in work (CONTRIBUTING.md describes when it moves on). */
export function lastLanded(): string {
  return readFileSync(join(__dirname, 'last-landed'), 'utf8').trim();
}

/** The whole hash of a revision; undefined where the clone does not have it, as a shallow one. */
export async function hashOf(revision: string): Promise<string | undefined> {
  const { status, text } = await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`);
  return status === 0 ? text.trim() : undefined;
}

/**
 * The tree of a commit below `folder`, with its packages and built: the packages of this tree where it has all that the programs of
 * the commit are made of, else by `npm ci`. One that stands there from an earlier call is used again; one that was cut short is made anew.
 */
export async function oldVersion(hash: string, folder: string): Promise<Version> {
  const root = join(folder, hash);
  const version: Version = { label: 'old', revision: hash, root };
  const done = join(root, '.is-built');
  if (existsSync(done)) return version;
  rmSync(root, { recursive: true, force: true });
  const unfinished = `${root}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    await unpack(hash, unfinished);
    if (hasPackagesOf(unfinished)) symlinkSync(join(ROOT, 'node_modules'), join(unfinished, 'node_modules'), 'dir');
    else await must('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], unfinished);
    await must(process.execPath, [join('scripts', 'build.mjs'), '--force'], unfinished);
    writeFileSync(join(unfinished, '.is-built'), '');
    renameSync(unfinished, root);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return version;
}

async function unpack(hash: string, folder: string): Promise<void> {
  const archive = join(folder, 'tree.tar');
  await must('git', ['archive', '--format=tar', `--output=${archive}`, hash], ROOT);
  await must('tar', ['-xf', archive, '-C', folder], ROOT);
  rmSync(archive);
}

/** Whether this tree has the packages of the programs of another one, in the same versions; packages that only compile them may differ. */
function hasPackagesOf(root: string): boolean {
  const here = packagesOf(ROOT);
  return Object.entries(packagesOf(root)).every(
    ([path, { dev, integrity }]) => path === '' || dev === true || here[path]?.integrity === integrity,
  );
}

function packagesOf(root: string): Readonly<Record<string, { readonly dev?: boolean; readonly integrity?: string }>> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: ReturnType<typeof packagesOf>;
  };
  return lock.packages;
}

async function git(...args: string[]): Promise<{ readonly status: number | null; readonly text: string }> {
  const { run } = await import('../../scripts/lib/run.mjs');
  return run('git', args, { cwd: ROOT });
}

async function must(program: string, args: readonly string[], cwd: string): Promise<void> {
  const { run } = await import('../../scripts/lib/run.mjs');
  const { status, output } = await run(program, args, { cwd });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} in ${cwd} ended with ${status}:\n${output}`);
}
