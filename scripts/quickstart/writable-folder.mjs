import { accessSync, constants, mkdirSync } from 'node:fs';
import { diskFailure, requireFreeSpace } from '../lib/disk-failure.mjs';
import { Failure } from '../lib/failure.mjs';

/** Logs and credentials; Postgres says for itself what its data need. */
const LEAST_BYTES = 10_000_000;

/** Makes the data folder where there is none; a Failure when we may not write there. */
export function requireWritableFolder(dataDir) {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o755 });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const remedy = 'set CAUSEWAY_DATA_DIR to a folder that you may write';
    const why = diskFailure(cause, { folder: dataDir, doing: 'the data folder' });
    throw why ?? new Failure(`the data folder ${dataDir} cannot be used (${cause.code}): ${remedy}`, { cause });
  }
  requireFreeSpace(dataDir, { doing: 'the data folder', neededBytes: LEAST_BYTES });
}
