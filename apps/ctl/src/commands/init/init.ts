import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { checkName, FieldPath } from '@causeway/resources';
import { UsageError, type CommandContext } from '../../context';
import { listed, type SetExitCode } from '../../options';
import { readContexts, writeContexts } from '../../settings/contexts-file';
import { readGiven } from '../proxies/local-files';
import { readArchive, writeArchive } from './archive';
import {
  formatSettings,
  makeDatabase,
  makeLocalSecrets,
  makeSecretsFolder,
  secret,
  secretsFolder,
  toArchivedFiles,
  toFolderFiles,
  writeMissing,
  type FolderFile,
  type PlaneRole,
} from './plane-folder';
import { listUnits } from './units';
import { issueCredentials, readInvite, redeemInvite, type CredentialOptions } from './zone-credentials';

/** Options of both commands. */
interface InitOptions {
  readonly folder: string;
  readonly units?: string;
  /** Writes an archive for another machine in place of the folder. */
  readonly archive?: string;
  /** An archive that was written for this machine. */
  readonly from?: string;
  readonly postgres: string;
  readonly databaseUrlFile?: string;
  readonly redisUrlFile?: string;
  readonly name?: readonly string[];
  readonly set?: readonly string[];
}

type ZoneInitOptions = InitOptions & CredentialOptions;

/** The folder that the units read. */
const FOLDER = '/etc/causeway';
const UNITS = '/etc/systemd/system';

/** A folder to be made: the plane, its name, its settings and the files that only it has. */
interface PlannedFolder {
  readonly plane: PlaneRole;
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly files: readonly FolderFile[];
}

/** `causeway global init`. */
async function initGlobal(context: CommandContext, options: InitOptions): Promise<number> {
  if (isComplete(context, 'global', options)) return 0;
  if (options.from !== undefined) return unpack(context, 'global', options);
  const names = (options.name ?? []).join(',');
  const settings = { CAUSEWAY_KDS_TLS_NAMES: names, CAUSEWAY_REST_TLS_NAMES: names };
  return make(context, options, { plane: 'global', name: 'global', settings, files: [] });
}

/** `causeway zone init [ZONE]`. */
async function initZone(context: CommandContext, zone: string | undefined, options: ZoneInitOptions): Promise<number> {
  if (isComplete(context, 'zone', options)) return 0;
  if (options.from !== undefined) return unpack(context, 'zone', options);
  const invite = await readInvite(context, options, zone);
  const name = invite?.zone ?? zone;
  if (name === undefined) throw new UsageError('name the zone, or give its invite: --invite LINE');
  requireZoneName(name);
  // The invite is good once: everything else is read before.
  readSettings(options);
  databaseFiles(options, 'zone', name);
  if (options.archive === undefined) makeSecretsFolder(options.folder, 'zone');
  const credentials = invite ? await redeemInvite(context, invite) : await issueCredentials(context, name, options);
  const { folder } = options;
  const { authority } = credentials;
  const settings = {
    CAUSEWAY_ZONE_NAME: name,
    CAUSEWAY_REST_TLS_NAMES: (options.name ?? []).join(','),
    CAUSEWAY_GLOBAL_ADDRESS: credentials.global,
    CAUSEWAY_GLOBAL_CA_FILE: authority === undefined ? '' : join(folder, 'global-ca.pem'),
    CAUSEWAY_ZONE_TOKEN_FILE: join(folder, secretsFolder('zone'), 'zone-token'),
  };
  const files = [
    secret('zone', 'zone-token', credentials.token),
    ...(authority === undefined ? [] : [{ path: 'global-ca.pem', text: authority, isSecret: false }]),
  ];
  return make(context, options, { plane: 'zone', name, settings, files });
}

/** Throws UsageError for a text that is no name of a zone: it becomes part of settings and of SQL that an administrator runs. */
function requireZoneName(name: string): void {
  const [violation] = checkName(name, FieldPath.at('zone'));
  if (violation) throw new UsageError(`${violation.field}: ${violation.reason}`);
}

/** Whether the folder of a plane is there already; says so. */
function isComplete({ print }: CommandContext, plane: PlaneRole, { folder, archive }: InitOptions): boolean {
  if (archive !== undefined) {
    if (existsSync(archive)) print(`nothing is to be done: ${archive} is there, and stays as it is`);
    return existsSync(archive);
  }
  const needed = [
    `${plane}.env`,
    ...['database-url', 'operator-token'].map((each) => `${secretsFolder(plane)}/${each}`),
  ];
  const more = plane === 'zone' ? [`${secretsFolder(plane)}/zone-token`] : [];
  if (![...needed, ...more].every((path) => existsSync(join(folder, path)))) return false;
  print(`nothing is to be done: ${folder} has the files of a ${plane}, which stay as they are`);
  return true;
}

/** Makes the folder on this machine, or an archive for another one. */
function make(context: CommandContext, options: InitOptions, planned: PlannedFolder): number {
  const { folder, archive } = options;
  const { plane, name, settings, files } = planned;
  const all: Record<string, string> = { ...settings, ...sharedSettings(plane, folder), ...readSettings(options) };
  const shared = [
    { path: `${plane}.env`, text: formatSettings(all), isSecret: false },
    ...databaseFiles(options, plane, name),
    ...files,
  ];
  if (archive === undefined) return write(context, options, { plane, name, files: shared });
  writeArchive(archive, toArchivedFiles(shared));
  context.print(
    `wrote ${archive}; on the machine: causeway ${plane} init --from FILE, which makes the secrets that are in no archive`,
  );
  return 0;
}

/** Makes the folder of an archive. */
function unpack(context: CommandContext, plane: PlaneRole, options: InitOptions): number {
  const files = toFolderFiles(plane, readArchive(options.from ?? ''));
  const [, name = plane] =
    /^CAUSEWAY_ZONE_NAME=(.+)$/m.exec(files.find(({ path }) => path === `${plane}.env`)?.text ?? '') ?? [];
  return write(context, options, { plane, name, files });
}

/** Writes what is missing, and prints it and what is to be done then. */
function write(
  { config, print }: CommandContext,
  { folder, units }: InitOptions,
  { plane, name, files }: Omit<PlannedFolder, 'settings'>,
): number {
  const { written, kept } = writeMissing(folder, plane, [...files, ...makeLocalSecrets(plane)]);
  const place = units ?? (folder === FOLDER ? UNITS : undefined);
  const systemd = place === undefined ? [] : listUnits(plane, place).map((file) => ({ ...file, isSecret: false }));
  const ofSystemd = writeMissing('/', plane, systemd);
  for (const file of [...written, ...ofSystemd.written]) print(`wrote ${file}`);
  for (const file of kept) print(`${file} stays as it is`);
  if (folder === FOLDER) addContext(config.contextsFile, name, `unix:${adminSocket(plane)}`, print);
  const sql = join(folder, secretsFolder(plane), 'database.sql');
  const steps = [
    ...(written.includes(sql) ? [`su postgres -c psql <${sql}`] : []),
    ...(ofSystemd.written.length > 0
      ? ['systemd-sysusers causeway.conf && systemd-tmpfiles --create causeway.conf && systemctl daemon-reload']
      : []),
    ...(folder === FOLDER ? [`systemctl enable --now causeway-${plane}`] : []),
  ];
  if (steps.length > 0) print(`now run:\n${steps.map((step) => `  ${step}`).join('\n')}`);
  return 0;
}

/** Settings that every plane has. The units name the files of `/etc/causeway` themselves. */
function sharedSettings(plane: PlaneRole, folder: string): Readonly<Record<string, string>> {
  const file = (name: string): string => join(folder, secretsFolder(plane), name);
  const files = {
    DATABASE_URL_FILE: file('database-url'),
    CAUSEWAY_OPERATOR_TOKEN_FILE: file('operator-token'),
    CAUSEWAY_SECRETS_KEY_FILE: file('secrets-key'),
  };
  const own = folder === FOLDER ? { CAUSEWAY_ADMIN_SOCKET: adminSocket(plane) } : files;
  return { CAUSEWAY_BIND_ADDRESS: '0.0.0.0', ...own };
}

function adminSocket(plane: PlaneRole): string {
  return `/run/causeway-${plane}/admin.sock`;
}

/** Reads `--set NAME=VALUE`. Throws UsageError for another text. */
function readSettings({ set = [] }: InitOptions): Readonly<Record<string, string>> {
  return Object.fromEntries(
    set.map((text) => {
      const [, name, value] = /^([A-Z][A-Z0-9_]*)=([^\n]*)$/.exec(text) ?? [];
      if (name === undefined || value === undefined)
        throw new UsageError(`--set: "${text}" is no setting; write it like CAUSEWAY_REST_PORT=6681`);
      return [name, value];
    }),
  );
}

/** Returns the files with the URLs of the database and of Redis. */
function databaseFiles(options: InitOptions, plane: PlaneRole, name: string): readonly FolderFile[] {
  const { databaseUrlFile, redisUrlFile, postgres, folder } = options;
  const redis = redisUrlFile === undefined ? [] : [secret(plane, 'redis-url', readGiven(redisUrlFile))];
  if (databaseUrlFile !== undefined) return [secret(plane, 'database-url', readGiven(databaseUrlFile)), ...redis];
  // A URL that is there stays, and no password is made that its database would not have.
  const isThere = options.archive === undefined && existsSync(join(folder, secretsFolder(plane), 'database-url'));
  if (isThere) return redis;
  if (!/^[\w.:[\]-]+$/.test(postgres)) throw new UsageError(`--postgres: "${postgres}" is no HOST:PORT`);
  return [...makeDatabase(plane, name, postgres), ...redis];
}

/** Adds a context for the plane's unix socket, unless one of this name is there. */
function addContext(file: string, name: string, server: string, print: (line: string) => void): void {
  const { contexts, currentContext = name } = readContexts(file);
  if (contexts[name]) return;
  writeContexts(file, { currentContext, contexts: { ...contexts, [name]: { server } } });
  print(`context ${name} created: causeway --context ${name} …`);
}

/** `causeway global` and `causeway zone`, which have the one subcommand `init`. */
export function registerGlobal(program: Command, context: CommandContext, finish: SetExitCode): void {
  const global = program.command('global').description('makes a global control plane on a machine');
  initOptions(
    global
      .command('init')
      .description("writes the folder of a global's secrets and settings; a second run changes nothing"),
  ).action(async (options: InitOptions) => finish(await initGlobal(context, absolute(options))));
}

/** `causeway zone`. */
export function registerZone(program: Command, context: CommandContext, finish: SetExitCode): void {
  const zone = program.command('zone').description('makes the control plane of a zone on a machine');
  initOptions(
    zone
      .command('init')
      .description("writes the folder of a zone's secrets and settings; a second run changes nothing"),
  )
    .argument('[zone]', 'the zone (default: that of the invite, or of the archive)')
    .option('--invite <line>', 'what `causeway zones invite` printed; - reads it from the standard input')
    .option('--global <url>', 'without an invite: the REST interface of the global, as its administrator')
    .option(
      '--kds <url>',
      'without an invite: where the zone joins the global, grpcs://HOST:PORT; several by commas',
      listed,
    )
    .action(async (name: string | undefined, options: ZoneInitOptions) =>
      finish(await initZone(context, name, absolute(options))),
    );
}

function absolute<O extends InitOptions>(options: O): O {
  const { folder, units } = options;
  return { ...options, folder: resolve(folder), ...(units !== undefined && { units: resolve(units) }) };
}

function initOptions(command: Command): Command {
  return command
    .option('--folder <folder>', 'the folder of configurations', FOLDER)
    .option('--units <folder>', `where units of systemd go (default: ${UNITS}, with another --folder nowhere)`)
    .option('--archive <file>', 'writes an archive (0600) for another machine, without the secrets that are made there')
    .option('--from <file>', 'an archive that was written for this machine')
    .option('--postgres <host:port>', 'the server of a database to be made, with a new password', '127.0.0.1:5432')
    .option('--database-url-file <file>', 'the URL of a database that is there, in place of --postgres')
    .option('--redis-url-file <file>', 'the URL of Redis')
    .option('--name <name>', 'a name or address of the machine that its certificates need; several by commas', listed)
    .option(
      '--set <setting>',
      'NAME=VALUE, a setting more; without a value one less; may be repeated',
      (value, before: readonly string[] = []) => [...before, value],
    );
}
