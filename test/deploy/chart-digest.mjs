/** Prints the digest of all files of the chart: golden files bear that of the chart that they were rendered from. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHART = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'deploy', 'helm', 'causeway');
const hash = createHash('sha256');
const files = readdirSync(CHART, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .sort();
for (const file of files)
  hash
    .update(`${relative(CHART, file)}\0`)
    .update(readFileSync(file))
    .update('\0');
console.log(hash.digest('hex'));
