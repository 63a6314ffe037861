const FIRST_SIZE = 64 * 1024;
const LENGTH_DELIMITED = 2;
const SHORT = 64;

/**
 * Writes a protobuf message from its last byte to its first: the length of a nested message is known before its prefix
 * is written, so nothing is measured or moved. One instance writes many messages; `reset` starts the next one.
 */
export class ReverseWriter {
  private buffer = Buffer.allocUnsafe(FIRST_SIZE);
  private start = FIRST_SIZE;

  /** Starts a new message. */
  reset(): void {
    this.start = this.buffer.length;
  }

  /** Number of bytes written so far. */
  get length(): number {
    return this.buffer.length - this.start;
  }

  /** Returns the bytes written since `length` was `since`: a view that is valid until the next write. */
  written(since: number): Buffer {
    return this.buffer.subarray(this.start, this.buffer.length - since);
  }

  /** Writes a field of text or bytes. */
  field(field: number, value: string | Uint8Array): void {
    const since = this.length;
    if (typeof value === 'string') this.text(value);
    else this.bytes(value);
    this.close(field, since);
  }

  /** Makes the bytes written since `length` was `since` a length-delimited field. */
  close(field: number, since: number): void {
    this.varint(this.length - since);
    this.varint(field * 8 + LENGTH_DELIMITED);
  }

  private text(value: string): void {
    if (value.length <= SHORT && this.ascii(value)) return;
    const size = Buffer.byteLength(value, 'utf8');
    this.reserve(size);
    this.start -= size;
    this.buffer.write(value, this.start, size, 'utf8');
  }

  /**
   * Fast path for short ASCII text, such as names and labels: the loop takes a third of the time of two calls into
   * Node.
   */
  private ascii(value: string): boolean {
    this.reserve(value.length);
    const at = this.start - value.length;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) return false;
      this.buffer[at + i] = code;
    }
    this.start = at;
    return true;
  }

  private bytes(value: Uint8Array): void {
    this.reserve(value.length);
    this.start -= value.length;
    this.buffer.set(value, this.start);
  }

  private varint(value: number): void {
    const size = value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    this.reserve(size);
    this.start -= size;
    let rest = value;
    for (let i = 0; i < size - 1; i++, rest = Math.floor(rest / 0x80))
      this.buffer[this.start + i] = (rest & 0x7f) | 0x80;
    this.buffer[this.start + size - 1] = rest;
  }

  private reserve(size: number): void {
    if (size <= this.start) return;
    const old = this.written(0);
    const grown = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, old.length + size));
    old.copy(grown, grown.length - old.length);
    this.start = grown.length - old.length;
    this.buffer = grown;
  }
}
