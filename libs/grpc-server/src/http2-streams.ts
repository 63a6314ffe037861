import type { X509Certificate } from 'node:crypto';
import {
  constants,
  type Http2SecureServer,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { TLSSocket } from 'node:tls';
import { ServerInterceptingCall, type Metadata, type ServerInterceptor } from '@grpc/grpc-js';
import { TokenBucket, yieldToEventLoop, type Clock, type Rate } from '@causeway/runtime';
import { DEFAULT_STREAM_RATES, StreamLimits } from './stream-limits';

/**
 * Maximum rate of pings from a peer. Keepalive pings come seconds apart; Go and C also send bandwidth probes as pings,
 * some per round trip while data flows.
 */
const MAX_PING_RATE: Rate = { burst: 2_000, perSecond: 100 };

/**
 * The HTTP/2 streams under gRPC calls, which grpc-js does not expose. They are needed to reset a call whose peer does
 * not read (its status waits behind unread data), to limit pings and new streams per connection, and to frame and hold
 * a message for a thousand readers only once.
 */
export class Http2Streams {
  private readonly streams = new WeakMap<Metadata, ServerHttp2Stream>();
  /** The encodings that the peer of each stream says that it reads. */
  private readonly encodings = new WeakMap<ServerHttp2Stream, string>();
  private readonly certificates = new WeakMap<Http2Session, { readonly shown: X509Certificate | undefined }>();

  constructor(
    private readonly clock: Pick<Clock, 'elapsed'>,
    private readonly limits = new StreamLimits(DEFAULT_STREAM_RATES, clock),
  ) {}

  /**
   * Ends connections of this server that ping too often or open too many streams, before gRPC sees their headers. gRPC sees a
   * stream without valid credentials only after all data received with it is processed, and never if the stream was reset by then.
   */
  guard(server: Http2Server | Http2SecureServer): void {
    server.on('session', (session: Http2Session) => this.watchPings(session));
    const listeners = server.listeners('stream');
    server.removeAllListeners('stream');
    server.on('stream', (...begun: [stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...more: unknown[]]) => {
      const [stream, headers] = begun;
      const { session } = stream;
      const serve = (): void => listeners.forEach((listener) => void Reflect.apply(listener, server, begun));
      // A stream that gRPC does not see has no other listener.
      stream.on('error', () => undefined);
      if (!session || !this.admit(session)) return;
      const encodings = headers['grpc-accept-encoding'];
      if (typeof encodings === 'string') this.encodings.set(stream, encodings);
      if (this.limits.isAuthenticated(session)) return serve();
      void yieldToEventLoop().then(() => {
        if (!stream.destroyed && !stream.closed) serve();
      });
    });
  }

  /**
   * Records valid credentials of a call: its connection no longer counts against its address, and may have this many
   * open streams.
   */
  markAuthenticated(metadata: Metadata, maxConcurrentStreams?: number): void {
    const session = this.streams.get(metadata)?.session;
    if (!session || session.destroyed || !this.limits.markAuthenticated(session)) return;
    if (maxConcurrentStreams !== undefined) session.settings({ maxConcurrentStreams });
  }

  /** Records the stream of each call, with the call's metadata object as key. */
  readonly interceptor: ServerInterceptor = (_, call) =>
    new ServerInterceptingCall(call, {
      start: (next) => {
        next({
          onReceiveMetadata: (metadata, proceed) => {
            const stream = findStream(call);
            if (stream) this.streams.set(metadata, stream);
            proceed(metadata);
          },
        });
      },
    });

  /**
   * Returns the certificate that the client of a call presented in its TLS handshake, unverified; undefined if it
   * presented none. The same object for all calls of a connection: it is parsed once.
   */
  findCertificate(metadata: Metadata): X509Certificate | undefined {
    const session = this.streams.get(metadata)?.session;
    if (!session || session.destroyed) return undefined;
    const known = this.certificates.get(session);
    if (known) return known.shown;
    const { socket } = session;
    const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    this.certificates.set(session, { shown });
    return shown;
  }

  /** Returns whether the peer of a call reads messages compressed with gzip: grpc-js drops this header. */
  acceptsGzip(metadata: Metadata): boolean {
    const stream = this.streams.get(metadata);
    const encodings = stream && this.encodings.get(stream);
    return encodings?.split(',').some((encoding) => encoding.trim() === 'gzip') === true;
  }

  /** Returns whether the connection of a call still stands. */
  isConnected(metadata: Metadata): boolean {
    const session = this.streams.get(metadata)?.session;
    return session !== undefined && !session.destroyed && !session.closed && !session.socket.destroyed;
  }

  /** Resets a call immediately and drops the data that its peer has not read. The connection and its other calls stay. */
  reset(metadata: Metadata): void {
    this.streams.get(metadata)?.close(constants.NGHTTP2_CANCEL);
  }

  /** Writes framed messages to the response body, after its headers; the buffer is not copied. Does nothing for a reset call. */
  write(metadata: Metadata, bytes: Buffer, done: () => void): void {
    const stream = this.streams.get(metadata);
    if (!stream) throw new Error('the stream of a call is not known');
    if (!stream.destroyed && !stream.closed) stream.write(bytes, done);
  }

  private admit(session: Http2Session): boolean {
    if (session.destroyed) return false;
    const admitted = this.limits.take(session);
    if (!admitted) endSession(session, 'too_many_streams');
    return admitted;
  }

  private watchPings(session: Http2Session): void {
    const pings = new TokenBucket(MAX_PING_RATE, this.clock);
    session.on('ping', () => {
      if (pings.take() !== undefined && !session.destroyed) endSession(session, 'too_many_pings');
    });
  }
}

function endSession(session: Http2Session, reason: string): void {
  session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from(reason));
  session.destroy();
}

/** Returns a message in gRPC's wire format: uncompressed, prefixed by its length. */
export function frameMessage(message: Uint8Array): Buffer {
  return toFrame(0, [message]);
}

/** Returns a message that is compressed with gzip, member by member, in gRPC's wire format; the call needs the header `grpc-encoding`. */
export function frameCompressed(members: readonly Uint8Array[]): Buffer {
  return toFrame(1, members);
}

function toFrame(compressed: number, pieces: readonly Uint8Array[]): Buffer {
  const head = Buffer.allocUnsafe(5);
  head.writeUInt8(compressed, 0);
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  head.writeUInt32BE(bytes, 1);
  return Buffer.concat([head, ...pieces]);
}

/** The private field of grpc-js that holds the stream of a call; http2-streams.spec.ts fails if grpc-js moves it. */
function findStream(call: object): ServerHttp2Stream | undefined {
  const stream: unknown = Reflect.get(call, 'stream');
  return isStream(stream) ? stream : undefined;
}

function isStream(value: unknown): value is ServerHttp2Stream {
  return typeof value === 'object' && value !== null && 'close' in value && 'session' in value;
}
