import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { ownZone, type ControlPlane } from '@causeway/resources';
import { errorText, silentLogger, type Logger } from '@causeway/runtime';
import { backupLines, StoreNotEmpty, type BackupHeader, type RestoreResult } from '@causeway/store';
import { restoreBackup, type Restored } from '@causeway/store-postgres';
import type { ImportCommand } from '../settings/import-command';
import type { SharedSettings } from '../settings/settings';

/** Size of one read, bytes. */
const READ_SIZE = 256 * 1024;

/**
 * Restores a backup into the empty database of the settings and ends the program: with code 0 if it was restored, 1 if
 * not; then the database is unchanged. Writes all problems of the file to stderr, one line each.
 */
export async function importBackup(
  cp: ControlPlane,
  { DATABASE_URL: url }: Pick<SharedSettings, 'DATABASE_URL'>,
  { file, dryRun }: ImportCommand,
): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const owner = { role: cp.role, zone: ownZone(cp) };
  let input: Readable | undefined;
  try {
    input = await openBackup(file);
    const restored = await restoreBackup(backupLines(input), { url, logger: STDERR, owner, dryRun, signal });
    printResult(restored, file, dryRun);
    process.exitCode = restored.ok ? 0 : 1;
  } catch (error) {
    const isForThePerson = error instanceof StoreNotEmpty || error instanceof Unreadable || signal.aborted;
    if (!isForThePerson) throw error;
    complain(signal.aborted ? 'ended: nothing was restored' : errorText(error));
    process.exitCode = 1;
  } finally {
    input?.destroy(); // what is refused is not read to its end
  }
}

class Unreadable extends Error {}

/** Rejects immediately if the file cannot be read: a stream would emit the error before there is a listener. */
async function openBackup(file: string): Promise<Readable> {
  if (file === '-') return process.stdin;
  try {
    const handle = await open(file);
    if ((await handle.stat()).isFile()) return handle.createReadStream({ highWaterMark: READ_SIZE });
    await handle.close();
  } catch (error) {
    throw new Unreadable(`${file}: cannot be read: ${errorText(error)}`, { cause: error });
  }
  throw new Unreadable(`${file}: is no file; for a pipe, - takes standard input`);
}

/** Logs only warnings and errors about the database, for people; the rest is for running programs. */
const STDERR: Logger = { ...silentLogger, warn: complain, error: complain };

function printResult(restored: Restored, file: string, dryRun: boolean): void {
  if (restored.ok) {
    for (const line of summary(restored.header, restored.result, dryRun)) process.stdout.write(`${line}\n`);
    return;
  }
  for (const { line, reason } of restored.problems) complain(`${file} line ${line}: ${reason}`);
  const more = restored.total - restored.problems.length;
  if (more > 0) complain(`${file}: and ${more} more problems`);
  complain('nothing was restored');
}

function summary(
  { owner, head, takenAt, program, secrets }: BackupHeader,
  { resources, tombstones, addresses, revision }: RestoreResult,
  dryRun: boolean,
): readonly string[] {
  const whose = owner.role === 'global' ? 'the global control plane' : `zone ${owner.zone}`;
  return [
    `${dryRun ? 'would be restored' : 'restored'}: ${whose} as of ${new Date(takenAt).toISOString()}, revision ${head.revision}, written by version ${program}`,
    `  ${resources} resources, of which ${addresses} have a virtual IP, and ${tombstones} deleted ones whose addresses are kept`,
    `  a new incarnation begins at revision ${revision}: what the backup lacks stays in the other zones until it is confirmed`,
    ...(secrets ? [] : ['  no secrets: signing keys are made anew, and tokens of before are refused']),
  ];
}

function complain(line: string): void {
  process.stderr.write(`causeway: ${line}\n`);
}
