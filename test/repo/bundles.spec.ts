import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..');

/** Line of a text, from 0, and its column. */
function find(file: string, text: string): readonly [line: number, column: number] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const line = lines.findIndex((each) => each.includes(text));
  return [line, lines[line]?.indexOf(text) ?? -1];
}

describe.each(['global', 'zone'])('the bundle of the program %s', (program) => {
  const folder = join(ROOT, 'dist', 'apps', program, 'src');

  it('names lines of TypeScript in stack traces', () => {
    const said = 'the program shuts down after an uncaught error';
    const [line, column] = find(join(folder, 'main.js'), said);
    const map = new SourceMap(JSON.parse(readFileSync(join(folder, 'main.js.map'), 'utf8')));
    const { originalSource = '', originalLine } = map.findEntry(line, column) as Partial<
      Record<'originalSource', string> & Record<'originalLine', number>
    >;
    const source = resolve(folder, originalSource);
    expect(source).toBe(join(ROOT, 'apps', 'control-plane', 'src', 'program', 'shutdown-signal.ts'));
    expect(originalLine).toBe(find(source, said)[0]);
  });

  it.each(['lease-worker.js', 'body-worker.js', '0001-store.sql'])('has %s beside it', (file) => {
    expect(existsSync(join(folder, file))).toBe(true);
  });
});
