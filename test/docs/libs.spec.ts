import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Every lib is in the layer table of docs/architecture.md, and has a README.md of at most five lines, with an optional picture: its purpose, its
 * ports, where to begin.
 */

const ROOT = join(__dirname, '..', '..');
const MAX_README_LINES = 5;
const libs = readdirSync(join(ROOT, 'libs'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(join(ROOT, 'libs', entry.name, 'src')))
  .map(({ name }) => name);

/** The second cells of the rows of the layer table. */
function layerCells(): readonly string[] {
  const page = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
  const [, section = ''] = page.split('## Layers');
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| [^|]+ \| ([^|]+) \| [^|]+ \|$/gm)].map(([, cell = '']) => cell);
}

describe('the libs', () => {
  it('stand each in one row of the layer table of docs/architecture.md', () => {
    const rows = layerCells();
    const wrong = libs.filter((lib) => rows.filter((cell) => cell.includes(`\`${lib}\``)).length !== 1);
    // `agent` is a lib and a program.
    expect(wrong.filter((lib) => lib !== 'agent' || !rows.some((cell) => cell.includes('`agent`')))).toEqual([]);
  });

  it.each(libs)('%s has a README.md that says what it is for, its ports and where to begin', (lib) => {
    const path = join(ROOT, 'libs', lib, 'README.md');
    expect(existsSync(path)).toBe(true);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines[0]).toBe(`# ${lib}`);
    const picture = lines.indexOf('```');
    const prose = lines.slice(1, picture < 0 ? undefined : picture).filter((line) => line !== '');
    expect(prose.length).toBeLessThanOrEqual(MAX_README_LINES);
    expect(prose.filter((line) => /^\* (Ports|Begin): /.test(line))).toHaveLength(2);
    const named = [...prose.join('\n').matchAll(/`((?:src|test|bench|docs|libs)\/[\w./-]+)`/g)];
    const missing = named.filter(
      ([, file = '']) => !existsSync(join(ROOT, file.startsWith('src/') ? `libs/${lib}/${file}` : file)),
    );
    expect(missing.map(([, file]) => file)).toEqual([]);
  });
});
