import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Text that is created once and kept in the state folder across restarts. */
interface KeptText {
  readonly file: string;
  readonly form: RegExp;
  readonly make: () => string;
}

const INSTANCE: KeptText = { file: 'instance', form: /^[0-9a-f-]{36}$/, make: randomUUID };
const SECRET: KeptText = {
  file: 'lease-secret',
  form: /^[\w-]{43}$/,
  make: () => randomBytes(32).toString('base64url'),
};
const OWNER_ONLY = 0o600;

/**
 * Returns the id of this agent: created once, kept in the state folder across restarts. The zone detects a machine that
 * was copied together with its folder. Rejects if the folder cannot be written.
 */
export function readAgentInstance(stateFolder: string): Promise<string> {
  return readOrCreate(stateFolder, INSTANCE);
}

/**
 * Returns the secret that proves ownership of this agent's leases: unlike the instance id, which is in a label, only
 * the owner of the state folder can read it. An agent that lost it waits until its former leases have ended. Rejects if
 * the folder cannot be written.
 */
export function readLeaseSecret(stateFolder: string): Promise<string> {
  return readOrCreate(stateFolder, SECRET);
}

async function readOrCreate(folder: string, { file, form, make }: KeptText): Promise<string> {
  const path = join(folder, file);
  const kept = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  if (form.test(kept.trim())) {
    await chmod(path, OWNER_ONLY);
    return kept.trim();
  }
  const made = make();
  // Written and synced before the rename, so that neither another process nor a run after a power failure reads a part.
  const draft = `${path}.${process.pid}`;
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', OWNER_ONLY);
  try {
    await handle.writeFile(`${made}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
  return made;
}
