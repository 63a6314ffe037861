/** Service that sends back what it gets: `node echo-service.mjs PORT`, on loopback. */
import { createServer } from 'node:net';

createServer((socket) => socket.on('error', () => socket.destroy()).pipe(socket)).listen(
  Number(process.argv[2]),
  '127.0.0.1',
);
