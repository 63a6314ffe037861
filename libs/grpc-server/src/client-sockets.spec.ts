import { systemClock } from '@causeway/runtime';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { createServer, type Server, type Socket } from 'node:net';
import { until } from '../../../test/support/until';
import { ClientSockets } from './client-sockets';

const asIs = (bytes: Buffer): Buffer => bytes;

describe('the sockets of a gRPC client', () => {
  const accepted = new Set<Socket>();
  let silent: Server;
  beforeEach(async () => {
    silent = createServer((socket) => {
      accepted.add(socket.resume());
      socket.on('error', () => undefined).on('close', () => accepted.delete(socket));
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    for (const socket of accepted) socket.destroy();
    silent.close();
  });

  it.each([
    ['plain text', credentials.createInsecure()],
    ['TLS', credentials.createSsl()],
  ])('end with it, although their peer has never answered: %s', async (_, plain) => {
    const sockets = new ClientSockets(plain, systemClock);
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const client = new Client(`127.0.0.1:${port}`, sockets.credentials, { 'grpc.use_local_subchannel_pool': 1 });
    const call = client.makeBidiStreamRequest('/a.B/C', asIs, asIs, new Metadata());
    call.on('error', () => undefined);
    await until('the connection', () => accepted.size === 1);
    call.cancel();
    client.close();
    sockets.end();
    await until('its end', () => accepted.size === 0);
  });
});
