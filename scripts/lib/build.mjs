import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.mjs';
import { diskFailure } from './disk-failure.mjs';
import { Failure } from './failure.mjs';
import { run } from './run.mjs';
import { hashOfSources } from './sources.mjs';

/** Whether `dist/` was built from the sources as they stand. */
export function isBuilt(root) {
  const stamp = join(root, 'dist', '.sources');
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOfSources(root);
}

const THERE = { remedy: 'put the repository on another disk' };

/** Compiles every app, lib and migration into `dist/` and bundles the programs. What the compiler says is shown only when it fails. */
export async function build(root, signal) {
  const hash = hashOfSources(root);
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const { status, output } = await run(process.execPath, [nest, 'build', '--all'], { cwd: root, signal });
  if (status !== 0)
    throw (
      diskFailure(output, { folder: root, doing: 'the build', ...THERE }) ?? new Failure(`the build failed:\n${output}`)
    );
  // The programs read their version from it: `dist/` is laid out like the repository.
  copyFileSync(join(root, 'package.json'), join(root, 'dist', 'package.json'));
  await bundle(root);
  // Written last: a build that was cut short is done again.
  writeFileSync(join(root, 'dist', '.sources'), hash);
}
