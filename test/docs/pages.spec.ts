import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, normalize, resolve } from 'node:path';
import { CLI_PAGES, TRANSCRIPT_PAGES } from '../ctl/transcripts/transcript';
import { linksIn } from './find-citations';

const ROOT = resolve(__dirname, '..', '..');
const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.md'),
);

describe('docs', () => {
  it('has each page in its index, docs/README.md, from which the site makes its sidebar', () => {
    const index = readFileSync(join(ROOT, 'docs', 'README.md'), 'utf8');
    const listed = new Set(linksIn(index).map(({ path }) => normalize(path)));
    expect(pages.filter((page) => page !== 'README.md' && !listed.has(page))).toEqual([]);
  });

  it('has no `console` block that no test runs', () => {
    const shown = pages
      .map((page) => `docs/${page}`)
      .filter((page) => /^```console/m.test(readFileSync(join(ROOT, page), 'utf8')));
    expect(shown.filter((page) => !TRANSCRIPT_PAGES.includes(page))).toEqual([]);
    const specs = CLI_PAGES.map((page) =>
      join(__dirname, '..', 'ctl', 'transcripts', `${basename(page, '.md')}.spec.ts`),
    );
    expect(specs.filter((spec) => !existsSync(spec))).toEqual([]);
  });
});
