/** `npm run package`: lays into `dist/package` what is installed on machines and copied into the image; `npm pack ./dist/package` makes one file of it. */
import { join } from 'node:path';
import { runMain } from './lib/failure.mjs';
import { layPackage } from './lib/package-tree.mjs';
import { root } from './lib/root.mjs';

await runMain(() => {
  const folder = join(root, 'dist', 'package');
  layPackage(root, folder);
  console.log(`package: ${folder}`);
});
