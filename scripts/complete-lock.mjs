/**
 * Adds to package-lock.json the optional packages for other platforms that the registry in use did not serve.
 * `npm install` leaves such packages out of the lock, and `npm ci` then refuses it. Run it after every `npm install`.
 * Their checksums stay empty: npm takes them from the registry that does serve them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { missingPackages } from './lib/lock-file.mjs';
import { root } from './lib/root.mjs';

const file = process.argv[2] ?? join(root, 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));
const missing = missingPackages(lock.packages);
const packages = Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`);
console.log(`package-lock.json: ${Object.keys(missing).length} packages of other platforms added`);
