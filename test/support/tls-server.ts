import { connect, type PeerCertificate } from 'node:tls';
import { Server } from '@grpc/grpc-js';
import type { ServerCertificates } from '@causeway/access';
import { tlsServerCredentials } from '@causeway/grpc-server';

/** The certificate that a server on loopback presents to a client that trusts `ca`, or the code of the error. */
export function presentedCertificate(
  port: number,
  ca: string,
  servername = 'localhost',
): Promise<PeerCertificate | string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername, ALPNProtocols: ['h2'] }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

/** A gRPC server on loopback with these certificates; `stop` ends it. */
export async function serveTls(certificates: ServerCertificates): Promise<{ port: number; stop(): void }> {
  const server = new Server();
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', tlsServerCredentials(certificates), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { port, stop: () => server.forceShutdown() };
}
