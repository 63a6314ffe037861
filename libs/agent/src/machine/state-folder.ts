import { access, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '@causeway/runtime';
import { MachineNetwork } from '../capture/machine-network';
import { endKept } from '../envoy/kept-process';
import { agentInstance } from '../lease/agent-instance';

/** How long a proxy that an agent has left behind may take to end, ms. */
const PATIENCE = 5_000;

/**
 * Ends what an agent that was killed has left running, takes back its rules and routes, and removes its state folder: keys, certificates, what it was told. Rejects where
 * the folder is none of an agent. The agent itself must have ended.
 */
export async function removeState(
  folder: string,
  options: { readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  await access(join(folder, 'instance')).catch((cause: unknown) => {
    throw new Error(`${folder} is no state folder of an agent: there is no file "instance"`, { cause });
  });
  const proxies = await readdir(join(folder, 'proxies')).catch(() => []);
  for (const proxy of proxies) await endKept(join(folder, 'proxies', proxy, 'envoy.pid'), PATIENCE, options);
  await new MachineNetwork({ folder, instance: await agentInstance(folder) }).remove();
  await rm(folder, { recursive: true });
}
