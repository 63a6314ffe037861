import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/*
 * Files, settings, commands, npm scripts and words of the interfaces that a page names are there. So is each file that a comment of the
 * sources names.
 */

const ROOT = resolve(__dirname, '..', '..');
const SOURCES = ['apps', 'bench', 'deploy', 'examples', 'libs', 'migrations', 'proto', 'scripts', 'test', 'tools'];
const NOT_READ = /(^|\/)(node_modules|dist|golden|testdata)\/|^libs\/proto-gen\/src\/gen\/|^tools\/docs-site\//;
/** Words of other products that pages name in backticks. */
const FOREIGN_WORDS = new Set([
  // A reason of Kuma, an option of esbuild, an option of Node; fields of the Gateway API and of its seeds that are refused.
  'MeshServicesDisabled',
  'keepNames',
  'streamResetBurst',
  'allowedListeners',
  'sessionPersistence',
  'meshClassName',
]);

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const filesOf = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => !NOT_READ.test(path));

const all = SOURCES.flatMap(filesOf);
const pages = [...filesOf('docs'), 'README.md', 'CONTRIBUTING.md', ...all].filter((path) => path.endsWith('.md'));
const sources = [
  ...all.filter((path) => /\.(ts|mjs|js|sh|sql|proto|ya?ml|json|service)$/.test(path)),
  'package.json',
  'docker-compose.yml',
  'Dockerfile',
].filter((path) => !path.startsWith('test/docs/named.'));
const code = sources.map(read).join('\n');
const words = new Set(code.match(/[A-Za-z_]\w*/g));

/** Files of the repository that a text names and that are not there. */
function missingFiles(text: string): readonly string[] {
  const named = text.matchAll(
    /(?<![\w./<-])((?:apps|bench|deploy|docs|examples|libs|migrations|proto|scripts|test|tools)\/[\w./-]+\.(?:ts|mjs|cjs|js|md|sh|json|ya?ml|sql|proto))\b/g,
  );
  return [...new Set([...named].map(([, file = '']) => file))].filter((file) => !existsSync(join(ROOT, file)));
}

/** The comments of a source. */
const commentsOf = (source: string): string =>
  (source.match(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm) ?? []).join('\n').replace(/\n\s*(?:\*|\/\/) ?/g, ' ');

/** The words behind the name of a program, in code of a page and at the beginning of its lines. */
function commandsIn(page: string, program: string): readonly string[] {
  const spans = [...page.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  const lines = page.split('\n').map((line) => line.replace(/^(\$ | {4})/, ''));
  return [...spans, ...lines].flatMap((text) => {
    const [, command] = new RegExp(`^${program} ([a-z][a-z-]*)`).exec(text) ?? [];
    return command === undefined ? [] : [command];
  });
}

describe('what is looked for', () => {
  it('is found where it is missing', () => {
    expect(missingFiles('see `libs/gone/src/index.ts`, docs/design.md and a/libs/x.ts')).toEqual([
      'libs/gone/src/index.ts',
    ]);
    expect(commandsIn('`causeway gone -f x`, causeway not\n$ causeway lost\n', 'causeway')).toEqual(['gone', 'lost']);
  });
});

describe('pages name', () => {
  it('files that are there', () => {
    expect(pages.length).toBeGreaterThan(80);
    expect(pages.flatMap((page) => missingFiles(read(page)).map((file) => `${page}: ${file}`))).toEqual([]);
  });

  it('settings that programs read', () => {
    const unknown = pages.flatMap((page) =>
      [...new Set(read(page).match(/\bCAUSEWAY_[A-Z0-9_]*[A-Z0-9]\b/g))]
        .filter((setting) => !words.has(setting) && !code.includes(`${setting}_`))
        .map((setting) => `${page}: ${setting}`),
    );
    // scripts/quickstart joins the name of a control plane to that of a setting.
    expect(unknown.filter((line) => line !== 'README.md: CAUSEWAY_GLOBAL_KDS_PORT')).toEqual([]);
  });

  it('scripts of npm', () => {
    const unknown = pages.flatMap((page) =>
      [...read(page).matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)]
        .map(([, script = '']) => script)
        .filter((script) => !read('package.json').includes(`"${script}": `))
        .map((script) => `${page}: ${script}`),
    );
    expect(unknown).toEqual([]);
  });

  it.each([
    ['causeway', ['apps/ctl/src/program.ts'], /name: '([a-z-]+)'/g, ['help']],
    [
      'causeway-agent',
      ['apps/agent/src/main.ts', 'apps/agent/src/dns-command.ts', 'apps/agent/src/join-command.ts'],
      /\.command\('([a-z-]+)/g,
      [],
    ],
  ] as const)('commands of %s', (program, files, pattern, more) => {
    const known = new Set([...files.map(read).join('\n').matchAll(pattern)].map(([, name = '']) => name));
    for (const command of more) known.add(command);
    const named = pages.flatMap((page) => commandsIn(read(page), program).map((command) => `${page}: ${command}`));
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((line) => !known.has(line.slice(line.lastIndexOf(' ') + 1)))).toEqual([]);
  });

  it('in the table of REST and gRPC each command of causeway', () => {
    const [, section = ''] = read('docs/reference/cli.md').split('## REST and gRPC');
    const [table = ''] = section.split('\n## ');
    const commands = [...read('apps/ctl/src/program.ts').matchAll(/name: '([a-z-]+)'/g)].map(([, name = '']) => name);
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.filter((name) => !new RegExp(`\\b${name}\\b`).test(table))).toEqual([]);
  });

  it('reasons, conditions, kinds and fields that the code has', () => {
    const unknown = pages.flatMap((page) =>
      [...read(page).matchAll(/`([A-Za-z][a-z0-9]+(?:[A-Z][a-zA-Z0-9]*)+)`/g)]
        .map(([, word = '']) => word)
        .filter((word) => !words.has(word) && !FOREIGN_WORDS.has(word))
        .map((word) => `${page}: ${word}`),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });
});

describe('comments name', () => {
  it('files that are there', () => {
    const typescript = sources.filter((path) => path.endsWith('.ts'));
    expect(
      typescript.flatMap((path) => missingFiles(commentsOf(read(path))).map((file) => `${path}: ${file}`)),
    ).toEqual([]);
  });
});
