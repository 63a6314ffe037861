import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, open, rename, rm } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { ADMINS, type Authentication } from '@causeway/access';
import type { ControlPlane } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import type { Fence, ResourceStore } from '@causeway/store';
import type { ControlPlaneCore } from '../core.module';
import type { PeriodicTask } from './store-maintenance';

/** Dependencies of the periodic tasks of tokens. */
export interface TokenTaskContext extends Pick<ControlPlaneCore, 'cp' | 'clock' | 'logger' | 'settings'> {
  readonly store: ResourceStore;
  /** The leader's right to write. */
  readonly term: Fence;
}

/** Periodic tasks of a leader for the user tokens of its control plane. */
export function tokenTasks(context: TokenTaskContext, tokens: Authentication['tokens']): readonly PeriodicTask[] {
  return [
    { failure: 'the admin token could not be written', run: () => ensureAdminToken(context, tokens) },
    { failure: 'expired user tokens could not be forgotten', run: () => tokens.purge() },
  ];
}

/** Lifetime of the token; the leader writes a new one when it has expired. */
const TOKEN_LIFETIME = '8760h';

/** Metadata key that records the written token, so that it is written once for all replicas. */
const METADATA_KEY = { area: 'admin-token', key: 'latest' } as const;

/**
 * Writes an administrator's token to a file that only its owner can read, unless this control plane has done so and the
 * token is still valid; a revoked one is not replaced. Never overwrites a file of another origin: the token then gets a
 * file of its own beside it. If no file can be written, logs that, and the next term tries again.
 */
export async function ensureAdminToken(context: TokenTaskContext, tokens: Authentication['tokens']): Promise<void> {
  const { cp, clock, logger, settings, store } = context;
  const file = settings.CAUSEWAY_ADMIN_TOKEN_FILE ?? join(stateFolder(cp, settings), 'admin.token');
  if (file === 'off') return;
  const former = await store.readMetadata(METADATA_KEY.area, METADATA_KEY.key);
  const end = former?.['expiresAt'];
  if (typeof end === 'number' && end > clock.now()) return;
  try {
    const issue = () =>
      tokens.issue({ name: 'admin', groups: [ADMINS], validFor: TOKEN_LIFETIME, issuedBy: 'first start' });
    const { id, expiresAt, written } = await writeToken(file, former?.['file'] === file, issue);
    const value = { id, file: written, host: hostname(), expiresAt: Date.parse(expiresAt) };
    await store.write({ changes: [], onRefusal: 'abort', fence: context.term, metadata: [{ ...METADATA_KEY, value }] });
    logger.info('a token of an administrator was written', { file: written, id, expiresAt });
  } catch (error) {
    if (!isFileError(error)) throw error;
    const advice = 'set CAUSEWAY_ADMIN_TOKEN_FILE to a file that can be written, or to off';
    logger.warn('no token of an administrator was written', { file, error: errorText(error), advice });
  }
}

/**
 * Returns the folder for files of the first start: that of `CAUSEWAY_ADMIN_TOKEN_FILE`, else the user's state folder by
 * the XDG defaults. A user without a home, or without a name, as a dynamic one of systemd where libnss-systemd is not
 * installed, has the working folder, which the units make the state folder.
 */
export function stateFolder(
  cp: ControlPlane,
  { CAUSEWAY_ADMIN_TOKEN_FILE: file }: Pick<ControlPlaneCore['settings'], 'CAUSEWAY_ADMIN_TOKEN_FILE'>,
  readHome: () => string = homedir,
): string {
  if (file !== undefined && file !== 'off') return dirname(file);
  const name = cp.role === 'global' ? 'global' : `zone-${cp.zone}`;
  const ofUser = join(findHome(readHome), '.local', 'state', 'causeway', name);
  return ofUser.startsWith('/.local/') && !existsSync(ofUser) ? process.cwd() : ofUser;
}

/** Returns the home of this user; `/` if it has none, which Node throws for where the user has no name. */
function findHome(readHome: () => string): string {
  try {
    return readHome();
  } catch {
    return '/';
  }
}

type Issued = Awaited<ReturnType<Authentication['tokens']['issue']>>;

/** Issues a token only once a file is open for it. */
async function writeToken(
  file: string,
  replace: boolean,
  issue: () => Promise<Issued>,
): Promise<Issued & { readonly written: string }> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${randomUUID()}.new`;
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    const issued = await issue();
    await handle.chmod(0o600);
    await handle.writeFile(`${issued.token}\n`);
    await handle.sync();
    return { ...issued, written: await renameFile(unfinished, file, { replace, otherwise: `${file}.${issued.id}` }) };
  } finally {
    await handle.close();
    await rm(unfinished, { force: true });
  }
}

/** Renames a finished file atomically; to `otherwise` if the name belongs to another control plane's file. */
async function renameFile(
  from: string,
  to: string,
  { replace, otherwise }: { readonly replace: boolean; readonly otherwise: string },
): Promise<string> {
  if (replace) {
    await rename(from, to);
    return to;
  }
  try {
    await link(from, to); // unlike rename it never replaces
    return to;
  } catch (error) {
    if (!isFileError(error) || error.code !== 'EEXIST') throw error;
    await rename(from, otherwise);
    return otherwise;
  }
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return typeof error === 'object' && error !== null && 'path' in error && 'code' in error;
}
