import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { chmod } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { httpServerOptions, limitConnections, refuseGarbled } from './rest-adapter';
import type { RestLimits } from '../rest-dependencies';

/** Only the account of this process: its folder says the same, so that no moment is left between the two. */
const SOCKET_MODE = 0o600;

/**
 * The unix socket at which REST is served as well, in plain HTTP. Whoever reaches it is an administrator, so its path
 * has to lie in a folder of mode 0700; who prepares the folder calls `listen`. Connections of TCP are never `has`.
 */
export class LocalSocket {
  private readonly sockets = new WeakSet<object>();
  private server: Server | undefined;

  constructor(
    private readonly limits: RestLimits,
    /** Application that it serves; requested when it listens. */
    private readonly served: () => Pick<FastifyInstance, 'routing'>,
  ) {}

  /** True for the connection of a request that came by this socket. */
  has(socket: object): boolean {
    return this.sockets.has(socket);
  }

  /** Serves what the application serves, which must have been initialised. Rejects where it cannot listen. */
  async listen(path: string): Promise<void> {
    const fastify = this.served();
    const server = createServer(httpServerOptions(this.limits), (request, reply) => fastify.routing(request, reply));
    limitConnections(server, this.limits);
    server.on('clientError', refuseGarbled);
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

  /** The server, while it listens. */
  listening(): readonly Server[] {
    return this.server ? [this.server] : [];
  }

  /** Takes no further connection, ends the open ones and removes the file. */
  async close(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = undefined;
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await ended;
  }
}
