import { EventEmitter } from 'node:events';
import type { Http2SecureServer, Http2Server } from 'node:http2';
import type { Socket } from 'node:net';
import { ServerCredentials, type Server } from '@grpc/grpc-js';
import type { CallerLog, Clock } from '@causeway/runtime';
import { SharedPort, type SharedPortOptions } from './shared-port';
import { ConnectionAcceptor, type ConnectionLimits, type ListenAddress } from './connection-acceptor';
import { Http2Streams } from './http2-streams';
import { DEFAULT_STREAM_RATES, StreamLimits } from './stream-limits';

/** A gRPC server with a bounded number of connections and of streams on each. */
export class GrpcListener {
  private readonly acceptor: ConnectionAcceptor;
  private readonly shared: SharedPort[] = [];
  private readonly limits: StreamLimits;
  private readonly streams: Http2Streams;
  private server: Server | undefined;

  constructor(
    private readonly createServer: (streams: Http2Streams) => Server,
    limits: ConnectionLimits,
    log: CallerLog,
    clock: Pick<Clock, 'elapsed'>,
  ) {
    this.limits = new StreamLimits(limits.streams ?? DEFAULT_STREAM_RATES, clock, log);
    this.streams = new Http2Streams(clock, this.limits);
    this.acceptor = new ConnectionAcceptor(limits, log, this.limits);
  }

  /** Listens and resolves with the port; plain text without credentials. Rejects if it cannot listen. */
  bind(host: string, port: number, credentials = ServerCredentials.createInsecure()): Promise<number> {
    return this.bindAt({ host, port }, credentials);
  }

  /** Listens on a unix socket, in plain text: the permissions of its folder control access. Rejects if it cannot listen. */
  async bindPath(path: string): Promise<void> {
    await this.bindAt({ path }, ServerCredentials.createInsecure());
  }

  /** Listens for gRPC and HTTP/1 on one port. Rejects if it cannot listen. */
  bindShared(host: string, port: number, options: SharedPortOptions): Promise<number> {
    const serve = this.guardedServer(ServerCredentials.createInsecure());
    const shared = new SharedPort(options, (socket, read) => {
      if (this.limits.admitsFirst(read)) serve(socket);
      else socket.destroy();
    });
    this.shared.push(shared);
    return this.acceptor.listen({ host, port }, (socket) => shared.accept(socket));
  }

  private bindAt(at: ListenAddress, credentials: ServerCredentials): Promise<number> {
    return this.acceptor.listen(at, this.guardedServer(credentials));
  }

  /** Creates the server of accepted connections. */
  private guardedServer(credentials: ServerCredentials): (socket: Socket) => void {
    this.server ??= this.createServer(this.streams);
    const injector = this.server.createConnectionInjector(credentials);
    this.streams.guard(newestHttp2Server(this.server));
    return (socket) => injector.injectConnection(socket);
  }

  /** Stops listening and ends all calls and connections. Handlers have ended their calls before; the remaining ones belong to peers that do not read. */
  async close(): Promise<void> {
    const ended = this.acceptor.stop();
    for (const port of this.shared.splice(0)) port.close();
    if (this.server) await shutDown(this.server);
    this.acceptor.end();
    await ended;
  }
}

/** The private field of grpc-js that holds its HTTP/2 servers; rapid-reset.spec.ts fails if grpc-js moves it. */
function newestHttp2Server(server: Server): Http2Server | Http2SecureServer {
  const servers: unknown = Reflect.get(server, 'http2Servers');
  const newest: unknown = servers instanceof Map ? [...servers.keys()].at(-1) : undefined;
  if (!isHttp2Server(newest)) throw new Error('the HTTP/2 server of grpc-js is not known');
  return newest;
}

function isHttp2Server(value: unknown): value is Http2Server | Http2SecureServer {
  return value instanceof EventEmitter && value.listenerCount('stream') > 0;
}

function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.tryShutdown(() => resolve());
    server.forceShutdown();
  });
}
