import { ServerCredentials, type Server } from '@grpc/grpc-js';
import type { CallerLog } from '@causeway/runtime';
import { SharedPort, type SharedPortOptions } from './shared-port';
import { ConnectionAcceptor, type ConnectionLimits, type ListenAddress } from './connection-acceptor';

/** A gRPC server behind a bounded number of connections. */
export class GrpcListener {
  private readonly acceptor: ConnectionAcceptor;
  private readonly shared: SharedPort[] = [];
  private server: Server | undefined;

  constructor(
    private readonly createServer: () => Server,
    limits: ConnectionLimits,
    log: CallerLog,
  ) {
    this.acceptor = new ConnectionAcceptor(limits, log);
  }

  /** Listens and resolves with the port; plain text without credentials. Rejects where it cannot listen. */
  bind(host: string, port: number, credentials = ServerCredentials.createInsecure()): Promise<number> {
    return this.bindAt({ host, port }, credentials);
  }

  /** Listens at a unix socket, in plain text: who may is decided by its folder. Rejects where it cannot listen. */
  async bindPath(path: string): Promise<void> {
    await this.bindAt({ path }, ServerCredentials.createInsecure());
  }

  /** Listens for gRPC and HTTP/1 at one port. Rejects where it cannot listen. */
  bindShared(host: string, port: number, options: SharedPortOptions): Promise<number> {
    this.server ??= this.createServer();
    const injector = this.server.createConnectionInjector(ServerCredentials.createInsecure());
    const shared = new SharedPort(options, (socket) => injector.injectConnection(socket));
    this.shared.push(shared);
    return this.acceptor.listen({ host, port }, (socket) => shared.accept(socket));
  }

  private bindAt(at: ListenAddress, credentials: ServerCredentials): Promise<number> {
    this.server ??= this.createServer();
    const injector = this.server.createConnectionInjector(credentials);
    return this.acceptor.listen(at, (socket) => injector.injectConnection(socket));
  }

  /** Stops listening and ends all calls and connections: handlers have ended theirs before, the others belong to peers that do not read. */
  async close(): Promise<void> {
    const ended = this.acceptor.stop();
    for (const port of this.shared.splice(0)) port.close();
    if (this.server) await shutDown(this.server);
    this.acceptor.end();
    await ended;
  }
}

function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.tryShutdown(() => resolve());
    server.forceShutdown();
  });
}
