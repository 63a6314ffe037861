import { copyFileSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { Failure } from './failure.mjs';

const folderOf = (program) => join('apps', program, 'src');

const CONTROL_PLANES = ['global', 'zone'].map(folderOf);
const COMMAND_LINE = folderOf('ctl');
const AGENT = folderOf('agent');

/** Every program, by its folder in `dist/`. */
export const PROGRAMS = [...CONTROL_PLANES, COMMAND_LINE, AGENT];
const OF_AGENT = join('libs', 'agent');
const PG_STREAM = join('node_modules', 'pg', 'lib', 'stream.js');
const CLOUDFLARE_CHECK = 'if (isCloudflareRuntime())';

/**
 * Modules of the command line that stay files of their own: gRPC, which most runs do not need and which would double what Node
 * reads at each start, and the errors that both sides throw and catch, of which there must be one copy.
 */
export const APART = ['grpc/grpc-api-client.ts', 'api-error.ts'].map((file) => join('libs', 'api-client', 'src', file));

/** Modules of the command line by which the quickstart keeps contexts; a package has no use for them. */
const OF_QUICKSTART = ['config.ts', 'settings/contexts-file.ts'].map((file) => join(COMMAND_LINE, file));

/** Optional packages that dependencies look for and that are not installed here. */
const ABSENT = [
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
  'class-transformer',
  'class-validator',
  'pg-native',
];

/** A source map of one position: what stands in node_modules is left out of the maps, which Node reads at each start. */
const ONE_POSITION = Buffer.from('{"version":3,"sources":["node_modules"],"mappings":"AAAA"}').toString('base64');

/** Options of all bundles. */
const SHARED = {
  bundle: true,
  metafile: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  tsconfig: 'tsconfig.json',
  sourcemap: 'linked',
  sourcesContent: false,
  // V8's compiled code of a script with `import()` cannot be used again (tools/compile-cache.js), and all that is imported so is bundled or CommonJS.
  supported: { 'dynamic-import': false },
  // A comment with a letter beyond Latin-1 would make V8 keep the whole program at two bytes a character.
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'linked',
  mainFields: ['main'],
  external: ABSENT.flatMap((name) => [name, `${name}/*`]),
  logLevel: 'silent',
};

/**
 * Make one file of each control plane, and of the other programs, below `outdir`, in the place of its entry, of the sources alone
 * (docs/adr/0039-bundles-of-the-sources.md). Both resolve with the bundler's accounts of what it read and wrote.
 */
export async function bundleControlPlanes(root, outdir, signal) {
  const beside = workersIn(root).filter((file) => !isOfAgent(file));
  const metafiles = await bundle({ root, outdir, signal }, [
    { entryPoints: entries(CONTROL_PLANES, beside) },
    { entryPoints: OF_QUICKSTART.map((file) => entry(file, COMMAND_LINE)) },
  ]);
  copySql(root, outdir);
  return metafiles;
}

export function bundleOthers(root, outdir, signal) {
  return bundle({ root, outdir, signal }, [
    { entryPoints: entries([COMMAND_LINE], APART), plugins: [keepApart] },
    { entryPoints: entries([AGENT], workersIn(root).filter(isOfAgent)) },
  ]);
}

async function bundle({ root, outdir, signal }, programs) {
  const results = await withEsbuild(signal, ({ build }) =>
    programs.map(({ entryPoints, plugins = [] }) =>
      build({ ...SHARED, absWorkingDir: root, outdir, entryPoints, plugins: [mapOwnCodeOnly, ...plugins] }),
    ),
  );
  return results.map(({ metafile }) => metafile);
}

async function withEsbuild(signal, start) {
  const esbuild = await import('esbuild').catch((cause) => {
    throw new Failure('esbuild is not installed: npm ci', { cause });
  });
  signal?.throwIfAborted();
  signal?.addEventListener('abort', esbuild.stop, { once: true });
  return Promise.all(start(esbuild))
    .catch((cause) => {
      throw new Failure(`the programs could not be bundled:\n${cause.message}`, { cause });
    })
    .finally(esbuild.stop); // else its process lives as long as the quickstart
}

/** The program of each folder, and what stands beside it, where code finds it by `__dirname`. */
function entries(folders, beside) {
  return folders.flatMap((folder) => [join(folder, 'main.ts'), ...beside].map((file) => entry(file, folder)));
}

function entry(file, folder) {
  return { in: file, out: join(folder, basename(file, extname(file))) };
}

function workersIn(root) {
  return filesIn(root, ['libs'], (file) => file.endsWith('-worker.ts') && !file.includes('testdata'));
}

function copySql(root, outdir) {
  for (const file of filesIn(root, ['libs', 'migrations'], (file) => file.endsWith('.sql'))) {
    for (const folder of CONTROL_PLANES) copyFileSync(join(root, file), join(outdir, folder, basename(file)));
  }
}

function isOfAgent(file) {
  return file.startsWith(OF_AGENT);
}

/** Files below some folders of a root, relative to the root. */
function filesIn(root, folders, wanted) {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((file) => join(folder, file))
      .filter(wanted),
  );
}

/** Reads a file of a package; the driver of Postgres without its look for Cloudflare, for which Node loads its whole `fetch` at each start. */
async function readPackageFile(path) {
  const source = await readFile(path, 'utf8');
  if (!path.endsWith(PG_STREAM)) return source;
  if (!source.includes(CLOUDFLARE_CHECK)) throw new Error(`${path} has no ${CLOUDFLARE_CHECK}`);
  return source.replace(CLOUDFLARE_CHECK, 'if (false)');
}

const mapOwnCodeOnly = {
  name: 'map-own-code-only',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => ({
      contents: `${await readPackageFile(path)}\n//# sourceMappingURL=data:application/json;base64,${ONE_POSITION}`,
      loader: 'js',
    }));
  },
};

/** Leaves the modules of APART beside the program. */
const keepApart = {
  name: 'keep-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\..*\/(grpc-api-client|api-error)(\.js)?$/ }, ({ path, kind }) => {
      if (kind === 'entry-point') return undefined;
      return { path: `./${basename(path, '.js')}.js`, external: true };
    });
  },
};
