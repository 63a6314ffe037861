import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleControlPlanes, bundleOthers } from './bundle.mjs';
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
  const buildOthers = await buildControlPlanes(root, signal);
  await buildOthers();
}

/** The first half of `build`; resolves with the second, for the tables of the quickstart need the control planes alone. */
export async function buildControlPlanes(root, signal) {
  const dist = join(root, 'dist');
  const hash = hashOfSources(root);
  const metafiles = await writing(root, () => {
    rmSync(dist, { recursive: true, force: true });
    mkdirSync(dist);
    return bundleControlPlanes(root, dist, signal);
  });
  return () =>
    writing(root, async () => {
      metafiles.push(...(await bundleOthers(root, dist, signal)));
      const shipped = shippedPackages(root, metafiles);
      writeFileSync(join(dist, 'packages.json'), `${JSON.stringify(shipped, undefined, 2)}\n`);
      // Written last: a build that was cut short is done again.
      writeFileSync(join(dist, '.sources'), hash);
    });
}

async function writing(root, work) {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(error, { folder: root, doing: 'the build', ...THERE }) ?? error;
  }
}
