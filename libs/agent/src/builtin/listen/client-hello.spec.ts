import { createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import { parseOpening } from './client-hello';

/** The first bytes that Node sends with these options. */
async function helloOf(servername: string, alpn: readonly string[]): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createServer((socket: Socket) => {
      socket.once('data', (bytes) => {
        socket.destroy();
        server.close();
        resolve(bytes);
      });
    }).listen(0, '127.0.0.1', () => {
      const at = server.address();
      const port = typeof at === 'object' ? at?.port : 0;
      const client = connectTls({ host: '127.0.0.1', port: port ?? 0, servername, ALPNProtocols: [...alpn] });
      client.on('error', () => undefined);
    });
  });
}

/** The same message in records of at most so many bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    const header = Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]);
    records.push(header, part);
  }
  return Buffer.concat(records);
}

describe('the first bytes of a connection', () => {
  let hello: Buffer;
  const opening = { isTls: true, serverName: 'sni.msvc.default.east.redis.6379', alpn: ['kuma', 'h2'] };
  beforeAll(async () => (hello = await helloOf(opening.serverName, opening.alpn)));

  it('a ClientHello says its server name and its protocols, also in several records', () => {
    expect(parseOpening(hello)).toEqual({ type: 'known', opening });
    for (const size of [1, 7, 100, 1_000])
      expect(parseOpening(inRecords(hello, size))).toEqual({ type: 'known', opening });
  });

  it('each part of a ClientHello needs more', () => {
    for (let length = 0; length < hello.length; length++)
      expect(parseOpening(hello.subarray(0, length))).toEqual({ type: 'more' });
  });

  it.each<[string, Buffer]>([
    ['a request', Buffer.from('GET / HTTP/1.1\r\n')],
    ['SSL 2', Buffer.from([0x80, 0x2e, 1, 0, 2])],
    ['another handshake message', Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0])],
    ['a message of more than 16 KiB', Buffer.from([22, 3, 1, 0, 4, 1, 1, 0, 0])],
  ])('%s is not TLS', (_, bytes) => {
    expect(parseOpening(bytes)).toEqual({ type: 'known', opening: { isTls: false, serverName: '', alpn: [] } });
  });

  it('whatever comes, there is an answer, and more bytes never change one that is known', () => {
    const mutated = fc
      .tuple(fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 8 }), fc.uint8Array())
      .map(([changes, tail]) => {
        const bytes = Buffer.from(hello);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        return { bytes, tail: Buffer.from(tail) };
      });
    fc.assert(
      fc.property(mutated, ({ bytes, tail }) => {
        const found = parseOpening(bytes);
        if (found.type === 'known') expect(parseOpening(Buffer.concat([bytes, tail]))).toEqual(found);
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void parseOpening(Buffer.from(bytes))));
  });
});
