/** `npm start`: the whole mesh on this machine, in the foreground. `--fresh` begins anew. README.md says what it shows. */
import { runMain } from './lib/failure.mjs';
import { requireNode } from './lib/node-version.mjs';
import { printable } from './lib/printable.mjs';
import { root } from './lib/root.mjs';

await runMain(async () => {
  requireNode();
  // Only now: an older Node could not even load these.
  const { readSettings } = await import('./quickstart/settings.mjs');
  const { runQuickstart } = await import('./quickstart/quickstart.mjs');
  const { diskFailure } = await import('./lib/disk-failure.mjs');

  process.stdout.on('error', () => {}); // whoever read our output has gone; the mesh stays
  let folder = root;
  const stops = [];
  const ending = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => ending.abort());
  ending.signal.addEventListener('abort', () => console.log('causeway: ending'));
  const fileSystemFailure = (error) =>
    error instanceof Error && 'syscall' in error && !('port' in error)
      ? diskFailure(error, { folder: error.path ?? folder, doing: error.syscall })
      : undefined;
  try {
    const settings = await readSettings({ env: process.env, args: process.argv.slice(2), root });
    folder = settings.dataDir;
    await runQuickstart(settings, {
      signal: ending.signal,
      atEnd: (stop) => stops.push(stop),
      say: (text) => console.log(printable(text)),
    });
  } catch (error) {
    if (!ending.signal.aborted) throw fileSystemFailure(error) ?? error;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});
