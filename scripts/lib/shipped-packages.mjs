import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of a package: the folder of the package, and its name. */
const PACKAGE_FILE = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//;

/**
 * The packages of which bundles hold code, by what the bundler says of its outputs: name, version and licence, sorted. What is
 * installed to run or to build says nothing of that.
 */
export function shippedPackages(root, metafiles) {
  const outputs = metafiles.flatMap((metafile) => Object.values(metafile.outputs));
  const files = outputs.flatMap(({ inputs }) => Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0));
  const folders = new Set(files.map((file) => PACKAGE_FILE.exec(file)?.[1]).filter((folder) => folder !== undefined));
  return [...folders]
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      return { name, version, license };
    })
    .sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}
