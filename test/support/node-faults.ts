import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { TestAuthority } from './test-authority';

/**
 * Whether this Node shows a server the certificates between that of its client and the client's authority. 24.21.0 and 26.8.0 do not
 * (issue 65579 of nodejs/node).
 */
export async function showsPeerChains(): Promise<boolean> {
  const root = await TestAuthority.create('root', 1);
  const { chain: cert, key } = await (await root.between('between')).issue({ dns: 'peer' });
  // It hides those that it believes.
  const server = createServer({ cert, key, ca: [root.certificate], requestCert: true, rejectUnauthorized: false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: '127.0.0.1', port, cert, key, rejectUnauthorized: false });
  client.on('error', () => undefined);
  try {
    const [socket] = await accepted;
    return socket.on('error', () => undefined).getPeerX509Certificate()?.issuerCertificate !== undefined;
  } finally {
    client.destroy();
    server.close();
  }
}
