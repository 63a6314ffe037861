import { copyFileSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { Failure } from './failure.mjs';

const folderOf = (program) => join('apps', program, 'src');

/** The programs that have threads and read SQL, and those that have neither. */
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
export const APART = ['grpc/grpc-api-client.js', 'api-error.js'].map((file) => join('libs', 'api-client', 'src', file));

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
  allowOverwrite: true,
  bundle: true,
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
 * Makes one file of each program in `dist/`, in the place of its entry (docs/adr/0005-bundler.md): of the sources, and for the command
 * line of what the compiler has left there.
 */
export async function bundle(root) {
  const dist = join(root, 'dist');
  const commandLine = [join(COMMAND_LINE, 'main.js'), ...APART].map((file) => entry(dist, file, COMMAND_LINE));
  const agent = [join(AGENT, 'main.ts'), ...workersIn(root).filter(isOfAgent)].map((file) => entry(root, file, AGENT));
  await withEsbuild(({ build }) => [
    buildControlPlanes(build, root, dist),
    build({
      ...SHARED,
      absWorkingDir: root,
      outdir: dist,
      entryPoints: commandLine,
      plugins: [mapOwnCodeOnly, keepApart],
    }),
    build({
      ...SHARED,
      absWorkingDir: root,
      outdir: dist,
      entryPoints: agent,
      plugins: [mapOwnCodeOnly, leaveOutUnused],
    }),
  ]);
  copySql(root, dist);
}

/**
 * Makes one file of each control plane below another folder than `dist/`: of the sources alone, nothing is compiled before.
 * @public a process of test/scenarios/source-bundle.spec.ts calls it
 */
export async function bundleControlPlanes(root, outdir) {
  await withEsbuild(({ build }) => [buildControlPlanes(build, root, outdir)]);
  copySql(root, outdir);
}

async function withEsbuild(start) {
  const esbuild = await import('esbuild').catch((cause) => {
    throw new Failure('esbuild is not installed: npm ci', { cause });
  });
  await Promise.all(start(esbuild))
    .catch((cause) => {
      throw new Failure(`the programs could not be bundled:\n${cause.message}`, { cause });
    })
    .finally(esbuild.stop); // else its process lives as long as the quickstart
}

/** Threads and workers stay files of their own beside the program, and so do the SQL files: code finds them by `__dirname`. */
function buildControlPlanes(build, root, outdir) {
  const threads = workersIn(root).filter((file) => !isOfAgent(file));
  const entryPoints = CONTROL_PLANES.flatMap((folder) =>
    [join(folder, 'main.ts'), ...threads].map((file) => entry(root, file, folder)),
  );
  return build({ ...SHARED, absWorkingDir: root, outdir, entryPoints, plugins: [mapOwnCodeOnly] });
}

function workersIn(root) {
  return filesIn(root, ['libs'], (file) => file.endsWith('-worker.ts') && !file.includes('testdata'));
}

function copySql(root, outdir) {
  for (const file of filesIn(root, ['libs', 'migrations'], (file) => file.endsWith('.sql'))) {
    for (const folder of CONTROL_PLANES) copyFileSync(join(root, file), join(outdir, folder, basename(file)));
  }
}

/** A file below a root that becomes one of a program's folder. */
function entry(root, file, folder) {
  return { in: join(root, file), out: join(folder, basename(file, extname(file))) };
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

/** Says of our own modules that loading one does nothing: what nobody imports of them is left out. */
const leaveOutUnused = {
  name: 'leave-out-unused',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^(\.|@causeway\/)/ }, async ({ path, pluginData, ...asked }) => {
      if (pluginData === leaveOutUnused || asked.kind === 'entry-point') return undefined;
      const found = await resolve(path, { ...asked, pluginData: leaveOutUnused });
      return found.path.includes('node_modules') ? found : { ...found, sideEffects: false };
    });
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
