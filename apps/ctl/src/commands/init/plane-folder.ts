import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errorText } from '@causeway/runtime';
import { UsageError } from '../../context';
import type { ArchivedFile } from './archive';

/** Which control plane a folder is of. */
export type PlaneRole = 'global' | 'zone';

/** A file of the folder of a plane. */
export interface FolderFile {
  /** Below the folder. */
  readonly path: string;
  readonly text: string;
  /** Whether only root and the group of the plane read it. */
  readonly isSecret: boolean;
}

/** Returns the folder of a plane's secrets, below the folder of all planes. */
export function secretsFolder(plane: PlaneRole): string {
  return `${plane}.secrets`;
}

/** Makes the secrets that never leave the machine: a token of its administrator, and a key that seals what its database holds. */
export function makeLocalSecrets(plane: PlaneRole): readonly FolderFile[] {
  return [
    secret(plane, 'operator-token', randomBytes(32).toString('hex')),
    secret(plane, 'secrets-key', `k1:${randomBytes(32).toString('base64')}`),
  ];
}

/** A file with one secret. */
export function secret(plane: PlaneRole, name: string, text: string): FolderFile {
  return { path: `${secretsFolder(plane)}/${name}`, text: `${text.trim()}\n`, isSecret: true };
}

/** Makes the URL of a database with a new password, and the SQL that makes its role and the database, for psql. `name`: that of a zone, or `global`. */
export function makeDatabase(plane: PlaneRole, name: string, host: string): readonly FolderFile[] {
  const role = `causeway_${name.replace(/[.-]/g, '_')}`;
  const password = randomBytes(24).toString('hex');
  const create = (what: string, where: string): string =>
    `SELECT '${what}' WHERE NOT EXISTS (SELECT FROM ${where})\\gexec`;
  const sql = [
    create(`CREATE ROLE ${role} LOGIN`, `pg_roles WHERE rolname = '${role}'`),
    `ALTER ROLE ${role} PASSWORD '${password}';`,
    create(`CREATE DATABASE ${role} OWNER ${role}`, `pg_database WHERE datname = '${role}'`),
  ];
  return [
    secret(plane, 'database-url', `postgres://${role}:${password}@${host}/${role}`),
    secret(plane, 'database.sql', sql.join('\n')),
  ];
}

/** Formats settings as the environment file of a unit; settings without a value are left out. Throws UsageError for a value of several lines. */
export function formatSettings(settings: Readonly<Record<string, string>>): string {
  const broken = Object.keys(settings).find((name) => /[\r\n\0]/.test(settings[name] ?? ''));
  if (broken !== undefined) throw new UsageError(`${broken}: its value must be one line`);
  return Object.entries(settings)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** Result of `writeMissing`: the paths of the files that were written and of those that were there, in their order. */
export interface WrittenFiles {
  readonly written: readonly string[];
  readonly kept: readonly string[];
}

/** Makes the folder of a plane's secrets where it is missing. Throws UsageError if the caller may not write in it. */
export function makeSecretsFolder(folder: string, plane: PlaneRole): void {
  const path = join(folder, secretsFolder(plane));
  orUsageError(() => {
    makeFolder(path, plane);
    accessSync(path, constants.W_OK);
  });
}

/** Runs what may fail for want of permissions or place. */
function orUsageError(action: () => void): void {
  try {
    action();
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause) throw new UsageError(errorText(cause), { cause });
    throw cause;
  }
}

/**
 * Writes the files that are not there; one that is there stays as it is. Secrets are read by root and the group `causeway-PLANE` where it
 * exists and the caller is root, else by the caller alone. Throws UsageError if one cannot be written.
 */
export function writeMissing(folder: string, plane: PlaneRole, files: readonly FolderFile[]): WrittenFiles {
  const written: string[] = [];
  const kept: string[] = [];
  for (const { path, text, isSecret } of files) {
    const file = join(folder, path);
    if (existsSync(file)) {
      kept.push(file);
      continue;
    }
    orUsageError(() => writeNew(file, text, isSecret ? plane : undefined));
    written.push(file);
  }
  return { written, kept };
}

/** Writes a new file, in a new folder if that is missing; a secret of a plane is for root and its group. */
function writeNew(file: string, text: string, secretOf: PlaneRole | undefined): void {
  makeFolder(dirname(file), secretOf);
  if (secretOf === undefined) return writeFileSync(file, text, { mode: 0o644, flag: 'wx' });
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  const gid = findGroup(secretOf);
  if (gid === undefined) return;
  chownSync(file, 0, gid);
  chmodSync(file, 0o640);
}

/** Makes a folder where it is missing; one of secrets is for root and the group of the plane, which new files in it get. */
function makeFolder(folder: string, secretsOf: PlaneRole | undefined): void {
  if (existsSync(folder)) return;
  mkdirSync(folder, { recursive: true, mode: secretsOf === undefined ? 0o755 : 0o700 });
  chmodSync(folder, secretsOf === undefined ? 0o755 : 0o700);
  const gid = secretsOf === undefined ? undefined : findGroup(secretsOf);
  if (gid === undefined) return;
  chownSync(folder, 0, gid);
  chmodSync(folder, 0o2750);
}

/** Returns the number of the group that a plane's program runs as; undefined without one, and for callers who may not give files to it. */
function findGroup(plane: PlaneRole): number | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/etc/group')) return undefined;
  const [, gid] = new RegExp(`^causeway-${plane}:[^:]*:(\\d+):`, 'm').exec(readFileSync('/etc/group', 'utf8')) ?? [];
  return gid === undefined ? undefined : Number(gid);
}

/** Returns the files of an archive as those of a folder. Throws UsageError for those of another plane, and for what no archive has. */
export function toFolderFiles(plane: PlaneRole, archived: readonly ArchivedFile[]): readonly FolderFile[] {
  const own = new RegExp(
    `^(${plane}\\.env|global-ca\\.pem|${plane}\\.secrets/(database-url|database\\.sql|redis-url|zone-token))$`,
  );
  const [stranger] = archived.filter(({ path }) => !own.test(path));
  if (stranger) throw new UsageError(`the archive has ${stranger.path}, which is no file of the folder of a ${plane}`);
  return archived.map(({ path, text }) => ({ path, text, isSecret: path.includes('/') }));
}

/** Returns a folder's files as those of an archive. */
export function toArchivedFiles(files: readonly FolderFile[]): readonly ArchivedFile[] {
  return files.map(({ path, text, isSecret }) => ({ path, text, mode: isSecret ? 0o600 : 0o644 }));
}
