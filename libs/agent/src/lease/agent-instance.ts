import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'instance';
const FORM = /^[0-9a-f-]{36}$/;

/**
 * What tells this agent from others: made once, kept in the state folder over restarts. A machine that was copied with its folder is
 * found out by the zone. Rejects where the folder cannot be written.
 */
export async function agentInstance(stateFolder: string): Promise<string> {
  const path = join(stateFolder, FILE);
  const kept = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  if (FORM.test(kept.trim())) return kept.trim();
  const made = randomUUID();
  // Another process never reads a part of it.
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${made}\n`, { mode: 0o600 });
  await rename(draft, path);
  return made;
}
