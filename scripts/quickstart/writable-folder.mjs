import { accessSync, constants, mkdirSync } from 'node:fs';
import { Failure } from '../lib/failure.mjs';

/** Makes the data folder where there is none; a Failure when we may not write there. */
export function requireWritableFolder(dataDir) {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o755 });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const remedy = 'set CAUSEWAY_DATA_DIR to a folder that you may write';
    throw new Failure(`the data folder ${dataDir} cannot be used (${cause.code}): ${remedy}`, { cause });
  }
}
