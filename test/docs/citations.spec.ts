import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { anchorsOf, findCitations, linksIn, sectionsOf } from './find-citations';

const ROOT = resolve(__dirname, '..', '..');
const FOLDERS = [
  'apps',
  'bench',
  'deploy',
  'docs',
  'examples',
  'libs',
  'migrations',
  'proto',
  'scripts',
  'test',
  'tools',
];
const NOT_READ =
  /^(libs\/proto-gen\/src\/gen\/|tools\/docs-site\/|test\/docs\/citations\.spec\.ts$)|\/(golden|node_modules|dist)\//;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const files = [...FOLDERS.flatMap(filesOf), 'README.md', 'CONTRIBUTING.md'];
const pages = files.filter((path) => path.endsWith('.md'));
const aliases = shortNames();

function filesOf(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => /\.(ts|mjs|js|proto|sql|ya?ml|md)$/.test(path) && !NOT_READ.test(path));
}

/** The table of short names at the head of docs/design.md. */
function shortNames(): ReadonlyMap<string, string> {
  const rows = [...read('docs/design.md').matchAll(/^\| (`[^|]+) \| `(docs\/[^`]+)` \|$/gm)];
  return new Map(
    rows.flatMap(([, names = '', file = '']) =>
      [...names.matchAll(/`([\w.-]+\.md)`/g)].map(([, name = '']) => [name, file] as const),
    ),
  );
}

/** The file that a citation means: by short name, from the root, from docs/, from the citing file, or the only page of that name. */
function fileOf(document: string, citing: string): string | undefined {
  const alias = aliases.get(document);
  if (alias !== undefined) return alias;
  const places = [document, `docs/${document}`, normalize(join(dirname(citing), document))];
  const place = places.find((path) => pages.includes(path));
  if (place !== undefined) return place;
  const named = pages.filter((path) => path.endsWith(`/${document}`));
  return named.length === 1 ? named[0] : undefined;
}

/** Returns the citations in a text that cannot be opened. */
function broken(text: string, citing: string): readonly string[] {
  return findCitations(text).flatMap(({ document, sections }) => {
    const file = fileOf(document, citing);
    if (file === undefined || !existsSync(join(ROOT, file)))
      return [`${citing}: ${document} is not in this repository`];
    const known = sectionsOf(read(file));
    return sections.filter((section) => !known.has(section)).map((section) => `${citing}: ${file} has no §${section}`);
  });
}

/** Whether the number of a row is in the text of a title or a row of test data, not only in a comment. */
function isTitled(source: string, row: string): boolean {
  const code = source.split('\n').filter((line) => !/^\s*(\/\/|\/?\*|#)/.test(line));
  return code.some((line) => new RegExp(`(['"\`][^'"\`]*|row: )${row}\\b`).test(line));
}

/** The invariants of docs/design.md §9, by number. */
const invariants = new Set(
  [...read('docs/design.md').matchAll(/^\* \*\*(I\d+)\*\* /gm)].map(([, number = '']) => number),
);

/** The invariants that a text names and docs/design.md §9 does not have. */
function unknownInvariants(text: string, citing: string): readonly string[] {
  const cited = [...text.matchAll(/\bI[1-9]\d?\b/g)].map(([number]) => number);
  return [...new Set(cited)].filter((number) => !invariants.has(number)).map((number) => `${citing}: ${number}`);
}

/** The first cells of a page's tables. */
const rowsOf = (path: string): ReadonlySet<string> =>
  new Set([...read(path).matchAll(/^\| ([^|]+?) \|/gm)].map(([, cell = '']) => cell));

describe('citations', () => {
  it('are told where they lead nowhere', () => {
    const comment =
      '/** x (docs/design.md §5,\n * §99; docs/reference/kds-wire.md §4.2.3,\n * §7.1), gone.md §1, kds.md Appendix B.4, `docs/design.md` §2.99. */';
    expect(broken(comment, 'libs/x.ts')).toEqual([
      'libs/x.ts: docs/design.md has no §99',
      'libs/x.ts: docs/reference/kds-wire.md has no §7.1',
      'libs/x.ts: gone.md is not in this repository',
      'libs/x.ts: docs/design.md has no §2.99',
    ]);
  });

  it('of documents and their sections can be opened in this repository', () => {
    expect(files.flatMap((path) => broken(read(path), path))).toEqual([]);
    const found = files.flatMap((path) => findCitations(read(path)).flatMap(({ sections }) => sections));
    expect(found.length).toBeGreaterThan(250);
  });

  it('of rows of the seeds and of weaknesses of others name rows that are there', () => {
    const known = rowsOf('docs/reference/seeds.md');
    const cited = files.flatMap((path) => {
      const text = read(path);
      const rows = [...text.matchAll(/\bT00\d-\d\d\b/g)].map(([row]) => row);
      const weaknesses = [...text.matchAll(/\bpeers (\d\d(?:, \d\d)*)\b/g)].flatMap(([, list = '']) =>
        list.split(', '),
      );
      return [...rows, ...weaknesses].map((row) => `${path}: ${row}`);
    });
    expect(cited.length).toBeGreaterThan(200);
    expect(cited.filter((line) => !known.has(line.slice(line.lastIndexOf(' ') + 1)))).toEqual([]);
  });
});

describe('architecture decisions', () => {
  it('that are cited by number are in docs/adr', () => {
    const known = new Set(readdirSync(join(ROOT, 'docs/adr')).map((file) => Number(file.slice(0, 4))));
    const cited = files.flatMap((path) =>
      [...read(path).matchAll(/\bADRs? (\d+)\b/g)].map(([, number]) => [path, Number(number)] as const),
    );
    expect(cited.length).toBeGreaterThan(40);
    expect(cited.filter(([, number]) => !known.has(number))).toEqual([]);
  });
});

describe('invariants', () => {
  it('are reported where docs/design.md §9 lacks them', () => {
    expect(unknownInvariants('I1 and I10 hold, I99 does not; iI98, I100', 'libs/x.ts')).toEqual(['libs/x.ts: I99']);
  });

  it('that code, tests and pages cite are written in docs/design.md §9', () => {
    expect(files.flatMap((path) => unknownInvariants(read(path), path))).toEqual([]);
    expect([...invariants]).toEqual(Array.from({ length: invariants.size }, (_, i) => `I${i + 1}`));
  });

  it('are all listed by docs/architecture.md', () => {
    const listed = [...read('docs/architecture.md').matchAll(/\*\*(I\d+)\*\*/g)].map(([, number]) => number);
    expect(listed).toEqual([...invariants]);
  });
});

describe('links of pages', () => {
  it.each(pages)('%s', (path) => {
    const dead = linksIn(read(path)).filter(({ path: to, anchor }) => {
      const file = to === '' ? path : normalize(join(dirname(path), to));
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(read(file)).has(anchor);
    });
    expect(dead).toEqual([]);
  });
});

describe('docs/reference/seeds.md', () => {
  const page = read('docs/reference/seeds.md');

  it.each([
    ['T000', 42],
    ['T001', 20],
    ['T002', 48],
    ['T003', 38],
    ['T004', 61],
  ])('has every row of %s once, in order', (seed, count) => {
    const rows = [...page.matchAll(/^\| (T00\d-\d\d) \|/gm)].map(([, row = '']) => row);
    const wanted = Array.from({ length: count }, (_, i) => `${seed}-${String(i + 1).padStart(2, '0')}`);
    expect(rows.filter((row) => row.startsWith(seed))).toEqual(wanted);
  });

  it('names for each row of the Mesh tests whose titles or data have its number', () => {
    const rows = [...page.matchAll(/^\| (T000-\d\d|T003-(?:0[2349]|2[1-9])) \|.*\| ([^|]+) \|$/gm)];
    const named = rows.flatMap(([, row = '', cell = '']) =>
      [...cell.matchAll(/`([^`›]+) › ([^`]+)`/g)].map(([, file = '', words]) => ({ row, file, words })),
    );
    expect(rows.length).toBe(42 + 13);
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter(({ row, file, words }) => words !== row || !isTitled(read(file), row))).toEqual([]);
    const pages = rows.filter(([, , cell = '']) => !/^(–|`.*`)$/.test(cell));
    expect(pages.map(([, row]) => row)).toEqual([]);
  });

  it('has every weakness of other implementations once', () => {
    const numbers = (from: number, to: number): readonly string[] =>
      Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
    const rows = [...page.matchAll(/^\| (\d\d) \|/gm)].map(([, row]) => row);
    expect(rows).toEqual([...numbers(29, 48), ...numbers(59, 62)]);
  });

  it('names tests that are there', () => {
    const tests = [...page.matchAll(/`([^`›]+) › ([^`]+)`/g)].map(
      ([, file = '', words = '']) => [file, words] as const,
    );
    expect(tests.length).toBeGreaterThan(20);
    expect(
      tests.filter(
        ([file, words]) => !existsSync(join(ROOT, file)) || !read(file).replaceAll("\\'", "'").includes(words),
      ),
    ).toEqual([]);
  });
});
