import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Types of frames (RFC 9113 §6), and the flag that ends a block of headers. */
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const GOAWAY = 7;
const END_HEADERS = 4;

const FRAME_HEADER = 9;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const CANCEL = Buffer.from([0, 0, 0, 8]);
/** `:method: POST` and `:scheme: http` of HPACK's static table. */
const POST_HTTP = [0x83, 0x86];

/** Target of a raw connection, and the address of this host that it comes from. */
export interface RawTarget {
  readonly host: string;
  readonly port: number;
  readonly tls?: boolean;
  readonly localAddress?: string;
}

/** Outcome of a raw connection. */
export interface RawEnd {
  /** The code of the server's GOAWAY. */
  readonly code: number | undefined;
  /** Whether the server ended the connection. */
  readonly closed: boolean;
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(FRAME_HEADER);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** A header that HPACK remembers, of at most 126 characters: the first block names it, in the others it is one byte. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0x40, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
}

/** A connection that begins calls of gRPC and resets each in the packet that began it: 28 bytes a stream. */
export function rapidResets(path: string, streams: number): Buffer {
  return begunStreams(path, streams, true);
}

/** A connection that begins calls of gRPC. */
export function begunStreams(path: string, streams: number, areReset = false): Buffer {
  const named = { ':path': path, ':authority': 'x', 'content-type': 'application/grpc', te: 'trailers' };
  const entries = Object.entries(named);
  const first = Buffer.concat([Buffer.from(POST_HTTP), ...entries.map(([name, value]) => literal(name, value))]);
  // The newest entry of the dynamic table is number 62; pseudo-headers, which were named first, have to be first again.
  const others = Buffer.from([...POST_HTTP, ...entries.map((_, i) => 0x80 | (62 + entries.length - 1 - i))]);
  const frames = [PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0))];
  for (let i = 0; i < streams; i++) {
    const id = 2 * i + 1;
    frames.push(frame(HEADERS, END_HEADERS, id, i === 0 ? first : others));
    if (areReset) frames.push(frame(RST_STREAM, 0, id, CANCEL));
  }
  return Buffer.concat(frames);
}

/** Sends these bytes on a connection of their own; resolves when the server has ended it, or after `patience` ms. */
export function sendRaw(target: RawTarget, bytes: Buffer, patience: number): Promise<RawEnd> {
  return new Promise((resolve) => {
    const socket = open(target);
    const codes: number[] = [];
    const done = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ code: codes[0], closed });
    };
    const timer = setTimeout(() => done(false), patience).unref();
    let read = Buffer.alloc(0);
    socket.on('data', (part: Buffer) => {
      read = Buffer.concat([read, part]);
      for (let size = sizeOf(read); size !== undefined; size = sizeOf(read)) {
        if (read[3] === GOAWAY) codes.push(read.readUInt32BE(FRAME_HEADER + 4));
        read = read.subarray(size);
      }
    });
    socket.on('error', () => undefined).on('close', () => done(true));
    socket.write(bytes);
  });
}

/** The size of a frame that has arrived whole. */
function sizeOf(read: Buffer): number | undefined {
  if (read.length < FRAME_HEADER) return undefined;
  const size = FRAME_HEADER + read.readUIntBE(0, 3);
  return read.length >= size ? size : undefined;
}

function open({ tls, ...target }: RawTarget): Socket {
  return tls ? connectTls({ ...target, ALPNProtocols: ['h2'], rejectUnauthorized: false }) : connectTcp(target);
}
