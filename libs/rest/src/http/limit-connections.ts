import type { Server } from 'node:http';
import type { RestLimits } from '../rest-dependencies';

/** Bounds how many connections a server holds, in all and for one client address; a connection beyond is closed. */
export function limitConnections(
  server: Server,
  { connections, connectionsPerClient }: Pick<RestLimits, 'connections' | 'connectionsPerClient'>,
): void {
  server.maxConnections = connections;
  const clients = new Map<string, number>();
  server.on('connection', (socket) => {
    const client = socket.remoteAddress ?? '';
    const open = (clients.get(client) ?? 0) + 1;
    if (open > connectionsPerClient) return void socket.destroy();
    clients.set(client, open);
    socket.on('close', () => {
      const left = (clients.get(client) ?? 1) - 1;
      if (left > 0) clients.set(client, left);
      else clients.delete(client);
    });
  });
}
