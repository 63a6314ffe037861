/**
 * A Postgres for development, in the foreground: `node scripts/postgres.mjs [FOLDER [PORT]]`.
 * FOLDER is `.causeway/postgres` unless given (the quickstart's own, so not both at once), PORT a free one.
 * It ends with Ctrl-C, SIGTERM, or the death of this process.
 */
import { join } from 'node:path';
import { startPostgres } from './lib/embedded-postgres.mjs';
import { Failure, runMain } from './lib/failure.mjs';
import { freePort } from './lib/ports.mjs';
import { root } from './lib/root.mjs';

await runMain(async () => {
  const [folder = join(root, '.causeway', 'postgres'), port] = process.argv.slice(2);
  const onWait = () => console.error('waiting for an earlier Postgres to end');
  const postgres = await startPostgres({ folder, port: port ? Number(port) : await freePort(), onWait });
  console.log(postgres.url('postgres'));
  const asked = new Promise((resolve) => ['SIGINT', 'SIGTERM'].forEach((name) => process.on(name, resolve)));
  const words = await Promise.race([asked.then(() => undefined), postgres.ended]);
  if (words !== undefined) throw new Failure(`Postgres ended by itself:\n${words}`);
  await postgres.stop();
});
