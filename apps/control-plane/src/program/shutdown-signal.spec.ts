import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..', '..', '..');

describe('a program', () => {
  it.each(['exception', 'rejection'])(
    'that breaks by an %s says so in one line, hands over and ends with 1',
    async (how) => {
      const program = [resolve(ROOT, 'test', 'support', 'broken-program.ts'), how];
      const child = spawn(process.execPath, ['-r', resolve(ROOT, 'bench', 'register.cjs'), ...program], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [log, errors] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (log += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
      const [code] = (await once(child, 'close')) as [number | null];
      const lines = log
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { msg: string; error?: { message: string } });
      expect(lines.map(({ msg }) => msg)).toEqual([
        'the program shuts down after an uncaught error',
        'ending',
        'handed over',
      ]);
      expect(lines[0]?.error?.message).toBe('broken 0');
      expect({ code, errors }).toEqual({ code: 1, errors: '' });
    },
  );
});
