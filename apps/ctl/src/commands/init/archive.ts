import { chmodSync, closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { UsageError } from '../../context';

/** A file of an archive: its path without a leading slash, and its permissions. */
export interface ArchivedFile {
  readonly path: string;
  readonly mode: number;
  readonly text: string;
}

const BLOCK = 512;
/** Maximum size of an archive that is read, bytes: the folder of a plane has a few KiB. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Writes a new archive (the `ustar` of POSIX.1, which tar reads) that only its owner can read. Throws UsageError if the file is there. */
export function writeArchive(file: string, files: readonly ArchivedFile[]): void {
  const blocks = files.flatMap(({ path, mode, text }) => {
    const content = Buffer.from(text);
    return [header(path, mode, content.length), content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
  });
  const handle = openNew(file);
  try {
    writeSync(handle, Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
  } finally {
    closeSync(handle);
  }
  chmodSync(file, 0o600);
}

function openNew(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (cause) {
    throw new UsageError(`${file}: ${isCode(cause, 'EEXIST') ? 'is there already' : String(cause)}`, { cause });
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Returns the files of an archive of `writeArchive`. Throws UsageError for another one: links, folders, paths that lead elsewhere. */
export function readArchive(file: string): readonly ArchivedFile[] {
  const bytes = readBytes(file);
  const files: ArchivedFile[] = [];
  let at = 0;
  while (at + BLOCK <= bytes.length && bytes[at] !== 0) {
    const block = bytes.subarray(at, at + BLOCK);
    const [path, size] = [textIn(block, 0, 100), octal(block, 124, 12)];
    const isPlain = textIn(block, 257, 6) === 'ustar' && ['0', ''].includes(textIn(block, 156, 1));
    if (!isPlain || !isPlainPath(path) || octal(block, 148, 8) !== checksum(block) || at + BLOCK + size > bytes.length)
      throw new UsageError(`${file}: is no archive that causeway made, or damaged`);
    const text = bytes.subarray(at + BLOCK, at + BLOCK + size).toString('utf8');
    files.push({ path, mode: octal(block, 100, 8), text });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  if (files.length === 0) throw new UsageError(`${file}: is no archive that causeway made`);
  return files;
}

function readBytes(file: string): Buffer {
  try {
    const bytes = readFileSync(file);
    if (bytes.length <= MAX_BYTES) return bytes;
  } catch (cause) {
    throw new UsageError(`${file}: cannot be read (${String(cause)})`, { cause });
  }
  throw new UsageError(`${file}: is larger than ${MAX_BYTES} bytes`);
}

function isPlainPath(path: string): boolean {
  return /^[\w.-]+(\/[\w.-]+)*$/.test(path) && !path.split('/').some((part) => /^\.+$/.test(part));
}

function header(path: string, mode: number, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(path, 0, 100);
  block.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  block.write('0000000\0'.repeat(2), 108);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  block.write('root', 265);
  block.write('root', 297);
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** The sum of the bytes of a header, with blanks for the sum itself. */
function checksum(block: Buffer): number {
  return block.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 32 : byte), 0);
}

function textIn(block: Buffer, from: number, length: number): string {
  const [text = ''] = block
    .subarray(from, from + length)
    .toString('utf8')
    .split('\0');
  return text;
}

function octal(block: Buffer, from: number, length: number): number {
  return Number.parseInt(textIn(block, from, length).trim() || '0', 8);
}
