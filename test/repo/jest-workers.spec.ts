import { execFile } from 'node:child_process';
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
