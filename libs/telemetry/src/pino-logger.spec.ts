import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..', '..');

describe('the log of a program', () => {
  it('does not keep it from ending when nobody reads it any more', async () => {
    const program = resolve(ROOT, 'test', 'support', 'log-and-exit.ts');
    const child = spawn(process.execPath, ['-r', resolve(ROOT, 'bench', 'register.cjs'), program], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    await once(child, 'message');
    child.stdout?.destroy();
    child.send('the reader is gone');
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(3);
  }, 60_000);
});
