import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.mjs';
import { diskFailure } from './disk-failure.mjs';
import { shippedPackages } from './shipped-packages.mjs';
import { hashOfSources } from './sources.mjs';

/** Whether `dist/` was built from the sources as they stand. */
export function isBuilt(root) {
  const stamp = join(root, 'dist', '.sources');
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOfSources(root);
}

const THERE = { remedy: 'put the repository on another disk' };

/** Bundles the programs of the sources into `dist/`, anew; an aborted signal ends it and rejects. */
export async function build(root, signal) {
  const dist = join(root, 'dist');
  const hash = hashOfSources(root);
  try {
    rmSync(dist, { recursive: true, force: true });
    mkdirSync(dist);
    const metafiles = await bundle(root, dist, signal);
    writeFileSync(join(dist, 'packages.json'), `${JSON.stringify(shippedPackages(root, metafiles), undefined, 2)}\n`);
    // Written last: a build that was cut short is done again.
    writeFileSync(join(dist, '.sources'), hash);
  } catch (error) {
    throw diskFailure(error, { folder: root, doing: 'the build', ...THERE }) ?? error;
  }
}
