import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '..', '..');

it('a worker of Jest ends by itself when no test file is left', async () => {
  const files = ['shared-ticks', 'wakeable-sleep'].map((name) => join('libs', 'runtime', 'src', `${name}.spec.ts`));
  const args = [join('node_modules', 'jest', 'bin', 'jest.js'), '--maxWorkers=2', ...files];
  const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  expect(stderr).toContain('Test Suites: 2 passed');
  expect(stderr).not.toMatch(/failed to exit/);
});

it('Jest ends by itself after tests in its own process, started as scripts/test.mjs does', async () => {
  const args = ['--runInBand', join('libs', 'runtime', 'src', 'shared-ticks.spec.ts')];
  const jest = fork(join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'), args, { cwd: ROOT, stdio: 'ignore' });
  const late = setTimeout(() => jest.kill('SIGKILL'), 60_000);
  expect(await once(jest, 'exit')).toEqual([0, null]);
  clearTimeout(late);
});
