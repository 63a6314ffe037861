import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Http } from './http';

it('sends the token to its server alone, also for the next page of a server that is seen by another name', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url, headers: { authorization } }, response) => {
    asked.push(`${url} ${authorization}`);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const http = new Http({ server: new URL(`http://127.0.0.1:${port}/causeway/`), token: 't' });
  await http.json({ method: 'GET', path: 'https://proxy.invalid/meshes?size=1&cursor=c' });
  http.close();
  await new Promise((done) => server.close(done));
  expect(asked).toEqual(['/causeway/meshes?size=1&cursor=c Bearer t']);
});
