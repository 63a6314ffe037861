/** `npm run package:system [deb] [rpm]`: builds the .deb and the .rpm, of the same tree, into `dist/packages`; needs dpkg-deb and rpmbuild. */
import { join } from 'node:path';
import { runMain } from './lib/failure.mjs';
import { root } from './lib/root.mjs';
import { buildPackages } from './lib/system/system-packages.mjs';

await runMain(() => {
  const asked = process.argv.slice(2);
  const kinds = asked.length > 0 ? asked : ['deb', 'rpm'];
  for (const [kind, file] of Object.entries(buildPackages(root, join(root, 'dist', 'packages'), kinds)))
    console.log(`${kind}: ${file}`);
});
