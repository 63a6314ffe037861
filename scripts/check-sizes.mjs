/** `npm run check:sizes`: warns of folders and files that are too large or too small. It never fails. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { root } from './lib/root.mjs';
import { SIZE_EXCEPTIONS } from './lib/size-exceptions.mjs';
import { sizeFindings } from './lib/sizes.mjs';

const GENERATED = 'libs/proto-gen/';

const sources = ['apps', 'libs']
  .flatMap((top) => readdirSync(join(root, top), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) =>
    relative(root, join(entry.parentPath ?? entry.path, entry.name))
      .split(sep)
      .join('/'),
  )
  .filter((path) => path.includes('/src/') && !path.includes('node_modules/') && !path.startsWith(GENERATED))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

const findings = sizeFindings(sources, SIZE_EXCEPTIONS);
for (const finding of findings) console.warn(`warning: ${finding}`);
const exceptions = Object.keys(SIZE_EXCEPTIONS).length;
console.log(`sizes: ${sources.length} files, ${findings.length} warnings, ${exceptions} exceptions`);
