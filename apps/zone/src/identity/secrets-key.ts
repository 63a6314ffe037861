import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isLoopback } from '@causeway/access';
import { exitWithProblems, stateFolder } from '@causeway/control-plane';
import { SealingKeys } from '@causeway/identity';
import type { ControlPlane } from '@causeway/resources';
import { errorText, type Logger } from '@causeway/runtime';
import type { ZoneSettings } from '../config';
import { dnsAddresses } from '../dns-options';

/** Source of the keys that seal secrets in the store. */
export type SecretsSource =
  | { readonly type: 'given'; readonly keys: SealingKeys }
  /** A file with a key, created at the first start. */
  | { readonly type: 'file'; readonly file: string };

/** Maximum length of a file with keys, characters. */
const MAX_CHARACTERS = 8_192;

/**
 * Reads `CAUSEWAY_SECRETS_KEY`. Without it a zone that listens on loopback only uses a file of its own; one that listens
 * beyond loopback ends with one line, and so does one whose keys cannot be read.
 */
export function secretsSource(settings: ZoneSettings, cp: ControlPlane): SecretsSource {
  const given = settings.CAUSEWAY_SECRETS_KEY;
  if (given !== undefined) {
    const parsed = SealingKeys.parse(given);
    return parsed.ok
      ? { type: 'given', keys: parsed.keys }
      : exitWithProblems([`CAUSEWAY_SECRETS_KEY: ${parsed.reason}`]);
  }
  const beyond = bindAddresses(settings).find((address) => !isLoopback(address));
  if (beyond !== undefined)
    return exitWithProblems([
      `CAUSEWAY_SECRETS_KEY: is required where a zone listens beyond loopback (${beyond}); make one: echo "k1:$(openssl rand -base64 32)"`,
    ]);
  const zone = cp.role === 'zone' ? cp.zone : '';
  return { type: 'file', file: join(stateFolder(cp, settings), `zone-${zone}.secrets.key`) };
}

/** Returns every address that the program listens on. */
function bindAddresses(settings: ZoneSettings): readonly string[] {
  const { CAUSEWAY_BIND_ADDRESS: rest, CAUSEWAY_XDS_BIND_ADDRESS: xds = rest } = settings;
  return [rest, xds, ...dnsAddresses(settings)];
}

/** Returns the sealing keys: the given ones, or those of the file, which is created at the first start. Rejects if they cannot be read. */
export async function openSecrets(source: SecretsSource, logger: Logger): Promise<SealingKeys> {
  if (source.type === 'given') return source.keys;
  const { file } = source;
  try {
    const text = (await readIfThere(file)) ?? (await makeFile(file, logger));
    const parsed = SealingKeys.parse(text.trim());
    if (!parsed.ok) throw new Error(parsed.reason);
    return parsed.keys;
  } catch (cause) {
    const advice = 'set CAUSEWAY_SECRETS_KEY, or CAUSEWAY_ADMIN_TOKEN_FILE to a folder that can be written';
    throw new Error(`the key of secrets in ${file} cannot be used: ${errorText(cause)}; ${advice}`, { cause });
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    const text = await readFile(file, { encoding: 'utf8' });
    if (text.length > MAX_CHARACTERS) throw new Error(`it has more than ${MAX_CHARACTERS} characters`);
    return text;
  } catch (error) {
    if (getCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Written under another name first: no replica reads an incomplete key. */
async function makeFile(file: string, logger: Logger): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${randomUUID()}.new`;
  const text = `local-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}\n`;
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await link(unfinished, file); // Unlike rename, link never replaces a file.
    await syncFolder(dirname(file));
    logger.warn('CAUSEWAY_SECRETS_KEY is not set: a key was made; without its file the secrets of this zone are lost', {
      file,
    });
    return text;
  } catch (error) {
    const made = getCode(error) === 'EEXIST' ? await readIfThere(file) : undefined;
    if (made === undefined) throw error;
    return made;
  } finally {
    await handle.close();
    await rm(unfinished, { force: true });
  }
}

/** A key that seals stored data must survive a power failure: the folder entry is synced after the file. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function getCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
