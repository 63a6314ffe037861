/** `npm run check:sizes`: fails where a folder has more files than are easy to survey. */
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { Failure, runMain } from './lib/failure.mjs';
import { root } from './lib/root.mjs';
import { SIZE_EXCEPTIONS } from './lib/size-exceptions.mjs';
import { sizeFindings } from './lib/sizes.mjs';

const GENERATED = 'libs/proto-gen/';

await runMain(() => {
  const sources = ['apps', 'libs']
    .flatMap((top) => readdirSync(join(root, top), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) =>
      relative(root, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/'),
    )
    .filter((path) => path.includes('/src/') && !path.includes('node_modules/') && !path.startsWith(GENERATED));
  const findings = sizeFindings(sources, SIZE_EXCEPTIONS);
  if (findings.length > 0) throw new Failure(`sizes:\n  ${findings.join('\n  ')}`);
});
