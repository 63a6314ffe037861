import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { Failure } from './failure.mjs';
import { isBuilt } from './build.mjs';
import { APART, PROGRAMS } from './bundle.mjs';

/** The programs of the package and what each is called on the PATH. */
export const COMMANDS = {
  causeway: 'ctl',
  'causeway-global': 'global',
  'causeway-zone': 'zone',
  'causeway-agent': 'agent',
};

/** Files beside the programs: units with their users and the modes of their secrets, schemas of settings, alert rules, dashboards, the licence. */
const BESIDE = [
  'LICENSE',
  'README.md',
  ...['systemd', 'sysusers.d', 'tmpfiles.d', 'schemas', 'prometheus', 'grafana'].map((each) => join('deploy', each)),
];

/** The packages in the bundles, which the build writes. */
const SHIPPED = 'packages.json';

/**
 * Lays the tree that packages and images are made of into `folder`, anew: of each program the files that it runs from,
 * its units, and a package.json without dependencies, for the programs are bundled. The tree is laid out like `dist/`. Returns
 * that package.json.
 */
export function layPackage(root, folder) {
  if (!isBuilt(root)) throw new Failure('dist/ is not built from these sources: npm run build');
  rmSync(folder, { recursive: true, force: true });
  for (const program of PROGRAMS) layProgram(join(root, 'dist', program), join(folder, program));
  for (const path of BESIDE.filter((each) => existsSync(join(root, each))))
    cpSync(join(root, path), join(folder, path), { recursive: true });
  cpSync(join(root, 'dist', SHIPPED), join(folder, SHIPPED));
  mkdirSync(join(folder, 'bin'));
  for (const [command, program] of Object.entries(COMMANDS)) layCommand(join(folder, 'bin', command), program);
  const { name, version, description, license, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const bin = Object.fromEntries(Object.keys(COMMANDS).map((command) => [command, `bin/${command}`]));
  const manifest = { name, version, description, license, engines, bin };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return manifest;
}

/** Of the folder of a program: the bundles, their maps and licences, and the SQL that they read; not what the quickstart reads there. */
function layProgram(from, to) {
  const bundles = ['main.js', ...APART.map((file) => `${basename(file, extname(file))}.js`)];
  const isBundle = (file) => bundles.includes(file) || file.endsWith('-worker.js') || file.endsWith('.sql');
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from))
    if (isBundle(file.replace(/\.(map|LEGAL\.txt)$/, ''))) cpSync(join(from, file), join(to, file));
}

/** Stack traces name lines of the sources, as with `node --enable-source-maps`. */
function layCommand(path, program) {
  const main = `../apps/${program}/src/main.js`;
  writeFileSync(path, `#!/usr/bin/env node\n'use strict';\nprocess.setSourceMapsEnabled(true);\nrequire('${main}');\n`);
  chmodSync(path, 0o755);
}
