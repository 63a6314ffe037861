import { PLAINTEXT_OPENING, type Opening } from '../decode/chain-choice';

/** Result of parsing the first bytes of a connection; `more`: further bytes are needed. */
export type ParsedOpening = { readonly type: 'more' } | { readonly type: 'known'; readonly opening: Opening };

/** Maximum size of a ClientHello, as in Envoy, bytes. */
export const MAX_HELLO_BYTES = 16 * 1024;

const PLAIN: ParsedOpening = { type: 'known', opening: PLAINTEXT_OPENING };
const MORE: ParsedOpening = { type: 'more' };
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const RECORD_HEADER = 5;
const SERVER_NAME = 0;
const ALPN = 16;

/**
 * Parses the server name and ALPN protocols of a ClientHello (RFC 8446 §4.1.2, RFC 6066 §3, RFC 7301), which may span
 * several records. Bytes that are no ClientHello are plaintext.
 */
export function parseOpening(bytes: Buffer): ParsedOpening {
  const message = Buffer.alloc(Math.min(bytes.length, MAX_HELLO_BYTES));
  let [length, at] = [0, 0];
  for (;;) {
    if (at < bytes.length && bytes[at] !== HANDSHAKE) return PLAIN;
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return PLAIN;
    if (at + RECORD_HEADER > bytes.length) return MORE;
    const size = bytes.readUInt16BE(at + 3);
    if (size === 0 || size > MAX_HELLO_BYTES) return PLAIN;
    const part = bytes.subarray(at + RECORD_HEADER, at + RECORD_HEADER + size);
    if (length + part.length > MAX_HELLO_BYTES) return PLAIN;
    length += part.copy(message, length);
    if (length > 0 && message[0] !== CLIENT_HELLO) return PLAIN;
    const needed = length < 4 ? 4 : 4 + message.readUIntBE(1, 3);
    if (needed > MAX_HELLO_BYTES) return PLAIN;
    if (length >= needed && length >= 4) return parseHello(message.subarray(4, needed));
    if (part.length < size) return MORE;
    at += RECORD_HEADER + size;
  }
}

function parseHello(body: Buffer): ParsedOpening {
  const hello = new HelloReader(body);
  hello.skip(2 + 32); // version, random
  hello.skip(hello.number(1)); // session
  hello.skip(hello.number(2)); // cipher suites
  hello.skip(hello.number(1)); // compression
  let serverName = '';
  let alpn: readonly string[] = [];
  const extensions = new HelloReader(hello.take(hello.number(2)));
  while (extensions.left > 0) {
    const type = extensions.number(2);
    const content = new HelloReader(extensions.take(extensions.number(2)));
    if (type === SERVER_NAME) serverName = parseServerName(content);
    if (type === ALPN) alpn = parseProtocols(content);
    if (content.isBroken) return PLAIN;
  }
  return hello.isBroken || extensions.isBroken ? PLAIN : { type: 'known', opening: { isTls: true, serverName, alpn } };
}

function parseServerName(content: HelloReader): string {
  const names = new HelloReader(content.take(content.number(2)));
  while (names.left > 0) {
    const type = names.number(1);
    const name = names.take(names.number(2));
    if (type === 0) return name.toString('latin1');
  }
  return '';
}

function parseProtocols(content: HelloReader): readonly string[] {
  const names = new HelloReader(content.take(content.number(2)));
  const found: string[] = [];
  while (names.left > 0) found.push(names.take(names.number(1)).toString('latin1'));
  return found;
}

/** Reads consecutive fields. A read beyond the end sets `isBroken` and returns zeros. */
class HelloReader {
  isBroken = false;
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get left(): number {
    return this.isBroken ? 0 : this.bytes.length - this.at;
  }

  number(size: number): number {
    const bytes = this.take(size);
    return bytes.length === size ? bytes.readUIntBE(0, size) : 0;
  }

  skip(size: number): void {
    this.take(size);
  }

  take(size: number): Buffer {
    if (size > this.left) {
      this.isBroken = true;
      return Buffer.alloc(0);
    }
    const part = this.bytes.subarray(this.at, this.at + size);
    this.at += size;
    return part;
  }
}
