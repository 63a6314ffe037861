import { existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Failure } from './failure.mjs';

const FULL = /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/i;
const READ_ONLY = /EROFS|Read-only file system/i;
const FORBIDDEN = /EACCES|EPERM|Permission denied|Operation not permitted/i;
const MB = 1_000_000;
/** Below that the number of files is what is short. */
const FEW_FILES = 2_000;
const OTHER_FOLDER = 'set CAUSEWAY_DATA_DIR to a folder on another disk';

/**
 * Why a folder cannot be used, as a Failure of one line: what is full, how much is free there and needed; undefined when
 * the words speak of something else. `words` is an error, or what a program wrote before it ended.
 */
export function diskFailure(words, { folder, doing, neededBytes, remedy = OTHER_FOLDER }) {
  const text = textOf(words);
  const place = `${folder} (${doing})`;
  if (FULL.test(text)) return fullDisk(words, { folder, doing, neededBytes, remedy });
  if (READ_ONLY.test(text)) return failure(words, `the file system of ${place} is read-only: ${remedy}`);
  if (FORBIDDEN.test(text)) return failure(words, `this account may not write in ${place}: ${remedy}`);
  return undefined;
}

/** A Failure where the words are those of a full disk; else undefined. */
export function diskFull(words, where) {
  return FULL.test(textOf(words)) ? fullDisk(words, where) : undefined;
}

/** A Failure where the disk of a folder holds less than `neededBytes`. */
export function requireFreeSpace(folder, where) {
  const free = freeSpace(folder);
  if (free && free.bytes < where.neededBytes) throw fullDisk(undefined, { folder, ...where });
}

function fullDisk(words, { folder, doing, neededBytes, remedy = OTHER_FOLDER }) {
  const free = freeSpace(folder);
  const facts = [
    ...(free ? [`${Math.floor(free.bytes / MB)} MB are free`] : []),
    ...(free && free.files < FEW_FILES ? [`${free.files} more files fit`] : []),
    ...(neededBytes === undefined ? [] : [`${Math.ceil(neededBytes / MB)} MB are needed`]),
  ];
  const line = [`the disk is full that holds ${folder} (${doing})`, ...facts].join(', ');
  return failure(words, `${line}: free some space, or ${remedy}`);
}

function failure(words, line) {
  return new Failure(line, words instanceof Error ? { cause: words } : {});
}

function textOf(words) {
  return words instanceof Error ? `${words.code ?? ''} ${words.message}` : String(words);
}

/** Returns how many bytes this account may still write on the disk of a folder, which need not exist; undefined if the system does not report it. */
function freeSpace(folder) {
  let place = resolve(folder);
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  try {
    const { bavail, bsize, blocks, files, ffree } = statfsSync(place);
    return blocks === 0 ? undefined : { bytes: bavail * bsize, files: files === 0 ? Infinity : ffree };
  } catch {
    return undefined;
  }
}
