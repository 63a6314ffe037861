import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { build, stop } from 'esbuild';

const ROOT = resolve(__dirname, '..', '..');
/** Files that programs start as threads, and look for beside themselves. */
const THREADS = ['libs/store-postgres/src/lease/lease-worker.ts'];
/** Optional packages of dependencies, which are not installed. */
const ABSENT = ['pg-native', '@nestjs/*', 'class-transformer', 'class-validator'];

export interface BundledProgram {
  /** To be started by Node. */
  readonly file: string;
  remove(): void;
}

/**
 * Makes one file of a program of tests, and one of each thread that it starts. Node starts it in a third of the CPU time that the program takes as
 * hundreds of sources (`bench/register.cjs`): for tests that start it several times.
 */
export async function bundleProgram(source: string): Promise<BundledProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-program-'));
  await build({
    absWorkingDir: ROOT,
    entryPoints: [source, ...THREADS].map((file) => join(ROOT, file)),
    entryNames: '[name]',
    outdir: folder,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    tsconfig: 'tsconfig.json',
    mainFields: ['main'],
    external: ABSENT,
    logLevel: 'error',
  }).finally(stop); // else its process lives as long as this one
  const file = join(folder, `${basename(source, '.ts')}.js`);
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
