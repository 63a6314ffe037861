/** `npm run check:lock`: the lock file is complete, bound to no registry, and fits package.json. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, runMain } from './lib/failure.mjs';
import { lockFindings } from './lib/lock-file.mjs';
import { root } from './lib/root.mjs';

await runMain(() => {
  const findings = lockFindings(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  if (findings.length > 0) throw new Failure(`package-lock.json:\n  ${findings.join('\n  ')}`);
  const args = ['ci', '--dry-run', '--ignore-scripts', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Failure(`npm ci refuses package-lock.json:\n${stderr}`);
});
