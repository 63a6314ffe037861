import { crc32 } from 'node:zlib';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { EncodedResource } from '@causeway/xds-server';

/** Entry of the file. */
export type FileEntry =
  | { readonly type: 'put'; readonly resource: Pick<EncodedResource, 'type' | 'name' | 'version' | 'bytes'> }
  | { readonly type: 'remove' | 'want' | 'unwant'; readonly of: string; readonly names: readonly string[] };

/** Content of a file. */
export interface FileContent {
  readonly entries: readonly FileEntry[];
  /** Why the file was discarded with its content. */
  readonly corrupt?: string;
}

const MAGIC = Buffer.from('causeway-resources 1\n');
/** Size of a record's header, bytes: length, checksum, and checksum of these two. */
const HEADER_BYTES = 12;
/** Maximum size of a file that is read, bytes. */
const MAX_BYTES = 512 * 1024 * 1024;
const CODES = { put: 1, remove: 2, want: 3, unwant: 4 } as const;
const TYPES = ['put', 'remove', 'want', 'unwant'] as const;

const TOO_LARGE = { entries: [], corrupt: `it is larger than ${MAX_BYTES} bytes`, end: 0 };

class Corrupt extends Error {}

/**
 * Append-only log of entries on disk. An append that has resolved survives a crash; one that was cut short leaves all
 * of its entries or none. A file that is corrupt otherwise is discarded as a whole. For one process at a time.
 */
export class ResourceFile {
  private handle: FileHandle | undefined;
  private size = 0;

  private constructor(private readonly path: string) {}

  /** Bytes on disk. */
  get bytes(): number {
    return this.size;
  }

  /** Opens or creates the file and reads it. Rejects if the folder cannot be written. */
  static async open(path: string): Promise<{ readonly file: ResourceFile; readonly content: FileContent }> {
    const file = new ResourceFile(path);
    const content = await file.read();
    return { file, content };
  }

  /** Appends entries durably. After a rejection the file must be rewritten by `replace`. */
  async append(entries: readonly FileEntry[]): Promise<void> {
    if (!this.handle) throw new Error(`${this.path} is not open`);
    await this.write(this.handle, encodeRecord(entries));
    await this.handle.datasync();
  }

  /** Replaces all entries atomically. */
  async replace(batches: Iterable<readonly FileEntry[]>): Promise<void> {
    const path = `${this.path}.new`;
    const handle = await open(path, 'w', 0o600);
    const before = this.size;
    this.size = 0;
    try {
      await this.write(handle, MAGIC);
      for (const entries of batches) await this.write(handle, encodeRecord(entries));
      await handle.datasync();
      await rename(path, this.path);
      await syncFolder(dirname(this.path));
    } catch (error) {
      this.size = before;
      await handle.close();
      throw error;
    }
    const old = this.handle;
    this.handle = handle;
    await old?.close();
  }

  /** Removes the file. */
  async discard(): Promise<void> {
    await this.close();
    await rm(this.path, { force: true });
  }

  async close(): Promise<void> {
    const { handle } = this;
    this.handle = undefined;
    await handle?.close();
  }

  private async read(): Promise<FileContent> {
    const bytes = await this.load();
    if (bytes === undefined) {
      await this.replace([]);
      return { entries: [] };
    }
    const { entries, corrupt, end } = bytes === 'too large' ? TOO_LARGE : parseResourceFile(bytes);
    if (corrupt !== undefined) {
      await this.replace([]);
      return { entries, corrupt };
    }
    this.handle = await open(this.path, 'r+', 0o600);
    await this.handle.truncate(end);
    this.size = end;
    return { entries };
  }

  private async load(): Promise<Buffer | 'too large' | undefined> {
    const handle = await open(this.path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!handle) return undefined;
    try {
      const { size } = await handle.stat();
      return size > MAX_BYTES ? 'too large' : await handle.readFile();
    } finally {
      await handle.close();
    }
  }

  private async write(handle: FileHandle, bytes: Buffer): Promise<void> {
    await handle.write(bytes, 0, bytes.length, this.size);
    this.size += bytes.length;
  }
}

/** Syncs a folder, so that a renamed file survives a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function encodeRecord(entries: readonly FileEntry[]): Buffer {
  const parts = [Buffer.alloc(HEADER_BYTES), ...entries.flatMap(encodeParts)];
  const record = Buffer.concat(parts);
  const content = record.subarray(HEADER_BYTES);
  record.writeUInt32LE(content.length, 0);
  record.writeUInt32LE(crc32(content), 4);
  record.writeUInt32LE(crc32(record.subarray(0, 8)), 8);
  return record;
}

function encodeParts(entry: FileEntry): Buffer[] {
  const code = Buffer.from([CODES[entry.type]]);
  if (entry.type !== 'put') {
    const count = Buffer.alloc(4);
    count.writeUInt32LE(entry.names.length);
    return [
      code,
      ...encodeSized(Buffer.from(entry.of)),
      count,
      ...entry.names.flatMap((name) => encodeSized(Buffer.from(name))),
    ];
  }
  const { type, name, version, bytes } = entry.resource;
  return [code, ...[type, name, version].flatMap((text) => encodeSized(Buffer.from(text))), ...encodeSized(bytes)];
}

function encodeSized(bytes: Buffer): Buffer[] {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return [length, bytes];
}

/** Parses the bytes of a file; `end`: the end of the last complete record. */
export function parseResourceFile(bytes: Buffer): FileContent & { readonly end: number } {
  try {
    return parseRecords(bytes);
  } catch (error) {
    if (error instanceof Corrupt) return { entries: [], corrupt: error.message, end: 0 };
    throw error;
  }
}

/** Parses all complete records. Only the last record can be cut short. */
function parseRecords(bytes: Buffer): { readonly entries: readonly FileEntry[]; readonly end: number } {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new Corrupt('it is not a file of cached resources');
  const entries: FileEntry[] = [];
  let at = MAGIC.length;
  while (at < bytes.length) {
    const rest = bytes.subarray(at);
    const content = parseRecord(rest);
    if (!content) return { entries, end: at };
    for (const entry of readEntries(content)) entries.push(entry);
    at += HEADER_BYTES + content.length;
  }
  return { entries, end: at };
}

/** Returns the content of the first record; undefined if its write was cut short. Throws if the record is corrupt. */
function parseRecord(rest: Buffer): Buffer | undefined {
  if (rest.length < HEADER_BYTES) return undefined;
  const head = rest.subarray(0, 8);
  if (crc32(head) !== rest.readUInt32LE(8)) {
    // A crash may leave a longer file with zeros at its end.
    if (rest.every((byte) => byte === 0)) return undefined;
    throw new Corrupt('the head of a record has another checksum');
  }
  const length = head.readUInt32LE(0);
  if (rest.length < HEADER_BYTES + length) return undefined;
  const content = rest.subarray(HEADER_BYTES, HEADER_BYTES + length);
  if (crc32(content) === head.readUInt32LE(4)) return content;
  if (rest.length === HEADER_BYTES + length) return undefined;
  throw new Corrupt('a record has another checksum');
}

function* readEntries(content: Buffer): Iterable<FileEntry> {
  let at = 0;
  const number = (): number => {
    at += 4;
    return content.readUInt32LE(at - 4);
  };
  const part = (): Buffer => {
    const length = number();
    at += length;
    if (at > content.length) throw new Corrupt('a record ends within an entry');
    // Copied, so that the file's buffer can be freed.
    return Buffer.from(content.subarray(at - length, at));
  };
  const text = (): string => part().toString();
  while (at < content.length) {
    const type = TYPES[content.readUInt8(at++) - 1];
    if (type === undefined) throw new Corrupt('an entry is of a later version');
    if (type === 'put') yield { type, resource: { type: text(), name: text(), version: text(), bytes: part() } };
    else yield { type, of: text(), names: Array.from({ length: number() }, text) };
  }
}
