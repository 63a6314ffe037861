import { crc32, gzipSync } from 'node:zlib';

/** Magic number, method deflate, no flags, no time, unknown system (RFC 1952 §2.3). */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** Maximum number of bytes of a stored block (RFC 1951 §3.2.4). */
const MAX_STORED = 0xffff;
const LAST_STORED = 1;

/**
 * Returns bytes as a gzip member, uncompressed where they fit in one stored block: zlib takes 200 µs to begin and end a member,
 * which is most of what a message of some hundred bytes costs.
 */
export function storedMember(bytes: Uint8Array): Buffer {
  if (bytes.length > MAX_STORED) return gzipSync(bytes);
  const block = Buffer.allocUnsafe(5);
  block.writeUInt8(LAST_STORED, 0);
  block.writeUInt16LE(bytes.length, 1);
  block.writeUInt16LE(bytes.length ^ MAX_STORED, 3);
  const trailer = Buffer.allocUnsafe(8);
  trailer.writeUInt32LE(crc32(bytes), 0);
  trailer.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([HEADER, block, bytes, trailer]);
}
