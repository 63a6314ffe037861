import { Metadata, Server, type handleUnaryCall, type ServerDuplexStream } from '@grpc/grpc-js';
import { readPeerAddress, GrpcListener, type ConnectionLimits, type Http2Streams } from '@causeway/grpc-server';
import {
  GlobalKDSServiceService,
  SyncServiceService,
  type HandshakeRequest,
  type RenewTokenRequest,
} from '@causeway/proto-gen';
import { ServerStream } from '../session/grpc-streams';
import type { CallerLog, Clock } from '@causeway/runtime';
import type { Direction } from '../session/session';
import { decodeZoneHeaders, type ZoneHeaders } from '../wire/headers';
import { kdsChannelOptions, kdsSyncService } from '../wire/kds-service';
import { boundedErrorText, printableZone, retryMetadata, toStatus } from './call-failures';
import type { HandshakeHandler } from './handshake-handler';
import type { StreamHandler } from './stream-handler';

/** Handlers of the calls of zones. */
export interface CallHandlers {
  readonly handshakes: HandshakeHandler;
  readonly streams: StreamHandler;
  readonly log: CallerLog;
  readonly clock: Clock;
}

/** The gRPC server that zones connect to. */
export function createZoneListener(limits: ConnectionLimits, handlers: CallHandlers): GrpcListener {
  return new GrpcListener((connections) => serverFor(handlers, connections), limits, handlers.log, handlers.clock);
}

function serverFor({ handshakes, streams, log }: CallHandlers, connections: Http2Streams): Server {
  const server = new Server({ ...kdsChannelOptions.server, interceptors: [connections.interceptor] });
  const unary = unaryHandlers(log);
  server.addService(SyncServiceService, {
    handshake: unary(async (request: HandshakeRequest, headers, { address, metadata }) => {
      const response = await handshakes.handshake(request, headers, address);
      connections.markAuthenticated(metadata);
      return response;
    }),
    renewToken: unary((request: RenewTokenRequest, headers, { address }) =>
      handshakes.renewToken(request, headers, address),
    ),
  });
  const serve = (call: BytesCall, direction: Direction): void =>
    void serveStream(streams, call, direction, connections);
  server.addService(kdsSyncService, {
    globalToZoneSync: (call: BytesCall) => serve(call, 'down'),
    zoneToGlobalSync: (call: BytesCall) => serve(call, 'up'),
  });
  server.addService(
    { healthCheck: GlobalKDSServiceService.healthCheck },
    { healthCheck: unary(() => Promise.resolve({ interval: { seconds: 0, nanos: 0 } })) },
  );
  return server;
}

/** A zone's gRPC stream; messages are bytes. */
type BytesCall = ServerDuplexStream<Buffer, Buffer>;

async function serveStream(
  streams: StreamHandler,
  call: BytesCall,
  direction: Direction,
  connections: Http2Streams,
): Promise<void> {
  const { metadata } = call;
  const acceptsGzip = connections.acceptsGzip(metadata);
  const frames = {
    write: (bytes: Buffer, done: () => void) => connections.write(metadata, bytes, done),
    acceptsGzip,
    isConnected: () => connections.isConnected(metadata),
  };
  const incoming = {
    stream: new ServerStream(call, frames),
    direction,
    headers: decodeZoneHeaders(metadata),
    address: readPeerAddress(call.getPeer()),
  };
  await streams.serve(incoming, () => {
    connections.markAuthenticated(metadata);
    const answer = new Metadata();
    if (acceptsGzip) answer.set('grpc-encoding', 'gzip');
    call.sendMetadata(answer);
  });
}

/** The address of a caller, and the key of its connection. */
interface CallOrigin {
  readonly address: string;
  readonly metadata: Metadata;
}

/** Makes gRPC handlers of async functions; a failure is logged and mapped to a status. */
function unaryHandlers(log: CallerLog) {
  return <Q, A>(answer: (request: Q, headers: ZoneHeaders, from: CallOrigin) => Promise<A>): handleUnaryCall<Q, A> =>
    (call, callback) => {
      const headers = decodeZoneHeaders(call.metadata);
      const address = readPeerAddress(call.getPeer());
      answer(call.request, headers, { address, metadata: call.metadata }).then(
        (response) => callback(null, response),
        (error: unknown) => {
          const zone = printableZone(headers);
          const details = boundedErrorText(error);
          log.warn(`${zone} ${address}`, 'a call of a zone failed', { zone, address, error: details });
          const metadata = retryMetadata(error);
          callback({ code: toStatus(error), details, ...(metadata ? { metadata } : {}) });
        },
      );
    };
}
