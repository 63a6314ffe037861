import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
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
  });

  it('costs lines where its disk is full, not the program', async () => {
    const program = resolve(ROOT, 'test', 'support', 'log-and-exit.ts');
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, ['-r', resolve(ROOT, 'bench', 'register.cjs'), program], {
      stdio: ['ignore', full, 'pipe', 'ipc'],
    });
    let words = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (words += text));
    await once(child, 'message');
    child.send('the disk is full');
    const [code] = (await once(child, 'exit')) as [number | null];
    closeSync(full);
    expect({ code, words }).toEqual({ code: 3, words: '' });
  });
});
