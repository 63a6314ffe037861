import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { chmod } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { httpServerOptions, limitConnections, refuseUnparsable } from './rest-adapter';
import type { RestLimits } from '../rest-dependencies';

/** Only for the account of this process. The folder has the same restriction, which covers the moment before this one is set. */
const SOCKET_MODE = 0o600;

/**
 * The unix socket on which REST is also served, in plain HTTP. Whoever can connect is an administrator, so its path
 * must be in a folder of mode 0700; the owner of the folder calls `listen`. `has` is false for TCP connections.
 */
export class LocalSocket {
  private readonly sockets = new WeakSet<object>();
  private server: Server | undefined;

  constructor(
    private readonly limits: RestLimits,
    /** Returns the application to serve; called when listening begins. */
    private readonly served: () => Pick<FastifyInstance, 'routing'>,
  ) {}

  /** True for the connection of a request through this socket. */
  has(socket: object): boolean {
    return this.sockets.has(socket);
  }

  /** Serves the application, which must be initialised. Rejects if it cannot listen. */
  async listen(path: string): Promise<void> {
    const fastify = this.served();
    const server = createServer(httpServerOptions(this.limits), (request, reply) => fastify.routing(request, reply));
    limitConnections(server, this.limits);
    server.on('clientError', refuseUnparsable);
    server.on('connection', (socket: Socket) => this.sockets.add(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    });
    this.server = server;
    await chmod(path, SOCKET_MODE);
  }

  /** Returns the server while it listens. */
  listening(): readonly Server[] {
    return this.server ? [this.server] : [];
  }

  /** Stops accepting connections, ends the open ones and removes the file. */
  async close(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = undefined;
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await ended;
  }
}
