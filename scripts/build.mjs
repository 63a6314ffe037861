/** `npm run build`: does nothing when `dist/` is up to date; `--force` builds in any case. */
import { build, isBuilt } from './lib/build.mjs';
import { runMain } from './lib/failure.mjs';
import { root } from './lib/root.mjs';

await runMain(async () => {
  if (!process.argv.includes('--force') && isBuilt(root)) return console.log('build: up to date');
  await build(root);
  console.log('build: done');
});
