import { access, chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '@causeway/runtime';
import { MachineNetwork } from '../capture/machine-network';
import { endRecordedProcess } from '../envoy/kept-process';
import { readAgentInstance } from '../lease/agent-instance';

/** Mode of a state folder: only its owner has access. */
const OWNER_ONLY = 0o700;

/**
 * Creates the state folder of an agent, which holds keys and sockets. If others have access it is revoked, with a
 * warning. Rejects if it belongs to another user, who could replace the keys, or is no folder.
 */
export async function openStateFolder(folder: string, logger: Pick<Logger, 'warn'>): Promise<void> {
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY });
  const { mode, uid } = await stat(folder);
  const own = process.getuid?.() ?? uid;
  if (uid !== own)
    throw new Error(
      `the state folder ${folder} belongs to user ${uid}, the agent is user ${own}: give it one of its own`,
    );
  const given = mode & 0o777;
  if ((given & ~OWNER_ONLY) === 0) return;
  await chmod(folder, OWNER_ONLY);
  logger.warn('the state folder was open to other users and is so no more: what it held may be known to them', {
    state: folder,
    mode: `0${given.toString(8)}`,
  });
}

/** Records of a proxy's processes: the one that serves, and the one that it replaces. */
const PROCESS_FILES = ['envoy.pid', 'former.pid'];
/** Timeout for a leftover proxy to end, ms. */
const TIMEOUT = 5_000;

/**
 * Ends the proxies that a killed agent has left running, and removes its rules and routes. Does nothing if the folder does not belong to an agent. The
 * agent itself must have ended.
 */
export async function endLeftovers(
  folder: string,
  options: { readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  if (!(await isStateFolder(folder))) return;
  const proxies = await readdir(join(folder, 'proxies')).catch(() => []);
  const records = proxies.flatMap((proxy) => PROCESS_FILES.map((file) => join(folder, 'proxies', proxy, file)));
  await Promise.all(records.map((record) => endRecordedProcess(record, TIMEOUT, options)));
  await new MachineNetwork({ folder, instance: await readAgentInstance(folder) }).remove();
}

/**
 * As `endLeftovers`, and removes the state folder: keys, certificates, cached resources. Rejects if the folder does not belong to an agent.
 */
export async function removeState(
  folder: string,
  options: { readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  if (!(await isStateFolder(folder)))
    throw new Error(`${folder} is no state folder of an agent: there is no file "instance"`);
  await endLeftovers(folder, options);
  await rm(folder, { recursive: true });
}

function isStateFolder(folder: string): Promise<boolean> {
  return access(join(folder, 'instance')).then(
    () => true,
    () => false,
  );
}
