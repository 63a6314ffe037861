import { ServerCredentials, type Server } from '@grpc/grpc-js';
import type { CallerLog } from '@causeway/runtime';
import { ConnectionAcceptor, type ConnectionLimits } from './connection-acceptor';

/** A gRPC server behind a bounded number of connections. */
export class GrpcListener {
  private readonly acceptor: ConnectionAcceptor;
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
    this.server ??= this.createServer();
    return this.acceptor.listen(this.server, { host, port }, credentials);
  }

  /** Stops listening and ends all calls and connections: handlers have ended theirs before, the others belong to peers that do not read. */
  async close(): Promise<void> {
    const ended = this.acceptor.stop();
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
