/** `npm run check:lock`: each lock file is complete, bound to no registry, and fits its package.json. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, runMain } from './lib/failure.mjs';
import { lockFindings } from './lib/lock-file.mjs';
import { root } from './lib/root.mjs';

const FOLDERS = ['.', 'tools/docs-site'];

await runMain(() => {
  for (const folder of FOLDERS) {
    const file = join(folder, 'package-lock.json');
    const findings = lockFindings(readFileSync(join(root, file), 'utf8'));
    if (findings.length > 0) throw new Failure(`${file}:\n  ${findings.join('\n  ')}`);
    const args = ['ci', '--dry-run', '--ignore-scripts', '--loglevel=error'];
    const { status, stderr } = spawnSync('npm', args, { cwd: join(root, folder), encoding: 'utf8' });
    if (status !== 0) throw new Failure(`npm ci refuses ${file}:\n${stderr}`);
  }
});
