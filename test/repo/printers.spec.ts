import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { escapedLine, escapedLines } from '@causeway/resources';
import { printable } from '../../scripts/lib/printable.mjs';

/** The files that write to a terminal; all others go through their printers. */
const PRINTERS = ['apps/ctl/src/printer.ts', 'apps/agent/src/main.ts'];
const WRITES =
  /process\.(?:stdout|stderr)\.write\(|\bconsole\.\w+\(|writeSync\(\s*[12]\b|\/dev\/(?:tty|std(?:out|err))/;
/** Streams that are passed on to a consumer that writes what others printed. */
const HANDED_ON = /output: process\.|\.pipe\(process\./;

const sources = (...folders: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...folders], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => /(?<!\.spec)\.(ts|mjs)$/.test(file));

describe('no program of people writes past its printer', () => {
  it.each(sources('apps/ctl/src', 'apps/agent/src', 'libs/agent/src', 'libs/api-client/src'))('%s', (file) => {
    const text = readFileSync(file, 'utf8');
    if (!PRINTERS.includes(file)) expect(text).not.toMatch(WRITES);
    // The question of `delete`, which is asked by `asked`.
    if (file !== 'apps/ctl/src/commands/delete.ts') expect(text).not.toMatch(HANDED_ON);
  });

  it('the printers escape', () => {
    for (const file of PRINTERS) expect(readFileSync(file, 'utf8')).toContain('escapedLines(');
  });

  it('the demo, which runs before anything is built, escapes in the same way', () => {
    for (const text of ['a\u001b[2Jb\n\tc', '\u009b\u202E\u2028\u{E0041}\uD800\u200C', 'Größe 日本 😀'])
      expect(printable(text)).toBe(escapedLines(text));
    expect(escapedLine('a\nb')).toBe('a\\nb');
    for (const file of ['scripts/demo.mjs', 'scripts/start.mjs', 'scripts/lib/failure.mjs'])
      expect(readFileSync(file, 'utf8')).toContain('printable(');
  });
});
