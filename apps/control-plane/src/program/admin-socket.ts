import { chmod, lstat, mkdir, readdir, stat, unlink } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { errorText, type Logger } from '@causeway/runtime';
import type { SharedSettings } from '../settings/settings';

const FOLDER_MODE = 0o700;
/** Permissions of a folder's group and of others. */
const OTHERS_PERMISSIONS = 0o077;
/** Formats permissions in octal. */
const formatMode = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');

/**
 * Prepares the path of `CAUSEWAY_ADMIN_SOCKET` for listening, and resolves with it; undefined if it is not set. Whoever can open
 * the socket is an administrator, so its folder must belong to this account only: it is created with mode 0700, or tightened to
 * it with a log line. Rejects, naming the setting and the problem, if the folder is another account's or contains other files, if
 * the path is not a socket, and if another process listens on it. Removes the socket of a dead process.
 */
export async function prepareAdminSocket(
  { CAUSEWAY_ADMIN_SOCKET: path }: Pick<SharedSettings, 'CAUSEWAY_ADMIN_SOCKET'>,
  logger: Logger,
): Promise<string | undefined> {
  if (path === undefined || path === 'off') return undefined;
  try {
    await takeFolder(dirname(path), logger);
    await removeDeadSocket(path, logger);
  } catch (error) {
    throw new Error(`CAUSEWAY_ADMIN_SOCKET: ${errorText(error)}`, { cause: error });
  }
  return path;
}

async function takeFolder(folder: string, logger: Logger): Promise<void> {
  const uid = process.getuid?.();
  if (uid === undefined) throw new Error('this system has no unix sockets with owners: set it to off');
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE }).catch((error: unknown) => {
    if (!isCode(error, 'EEXIST')) throw error; // it is no folder, which is said below
  });
  const found = await stat(folder);
  if (!found.isDirectory()) throw new Error(`${folder} is no folder`);
  if (found.uid !== uid)
    throw new Error(`the folder ${folder} belongs to the account ${found.uid}, and must be this one's, ${uid}`);
  if ((found.mode & OTHERS_PERMISSIONS) === 0) return;
  await requireFolderOfItsOwn(folder, found);
  await chmod(folder, FOLDER_MODE);
  const modes = { before: formatMode(found.mode), now: formatMode(FOLDER_MODE) };
  logger.warn('the folder of the admin socket was accessible to others: its mode is changed', { folder, ...modes });
}

/** Rejects for a folder that others need, such as /tmp, /run or a home: tightening its mode would lock them out. */
async function requireFolderOfItsOwn(folder: string, { mode }: Stats): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const isShared = (mode & 0o1000) !== 0 || entries.some((entry) => entry.isDirectory());
  if (isShared)
    throw new Error(
      `the folder ${folder} is open to others (mode ${formatMode(mode)}) and has more in it: name a folder of the socket's own`,
    );
}

async function removeDeadSocket(path: string, logger: Logger): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (!found) return;
  if (!found.isSocket()) throw new Error(`${path} exists and is no socket`);
  if (await isServed(path)) throw new Error(`another process serves ${path}: each needs a path of its own`);
  await unlink(path);
  logger.info('the admin socket of a process that has ended is replaced', { path });
}

/** Whether a process listens on a socket, even one that does not answer. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ path });
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error) => resolve(!isCode(error, 'ECONNREFUSED') && !isCode(error, 'ENOENT')));
  });
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
