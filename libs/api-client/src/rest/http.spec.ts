import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '../api-error';
import { HttpClient } from './http';

async function serve(handler: RequestListener): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it('sends the token to its server alone, also for the next page of a server that is seen by another name', async () => {
  const asked: (string | undefined)[] = [];
  const { server, url } = await serve(({ url: path, headers: { authorization } }, response) => {
    asked.push(`${path} ${authorization}`);
    response.end('{}');
  });
  const http = new HttpClient({ server: new URL(`${url}/causeway/`), token: 't' });
  await http.json({ method: 'GET', path: 'https://proxy.invalid/meshes?size=1&cursor=c' });
  http.close();
  await new Promise((done) => server.close(done));
  expect(asked).toEqual(['/causeway/meshes?size=1&cursor=c Bearer t']);
});

it.each([
  ['2', 2_000],
  ['0', 0],
  ['Fri, 31 Dec 2027 23:59:59 GMT', undefined],
  ['', undefined],
])('tells what a refusal says of the next try: Retry-After: %s', async (header, want) => {
  const { server, url } = await serve((_, response) => {
    response.writeHead(429, { ...(header === '' ? {} : { 'retry-after': header }) });
    response.end('{"title": "Too many requests", "detail": "wait"}');
  });
  const http = new HttpClient({ server: new URL(url) });
  const error: unknown = await http.json({ path: '/' }).catch((refusal: unknown) => refusal);
  http.close();
  await new Promise((done) => server.close(done));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 'exhausted', message: 'wait' });
  expect(error instanceof ApiError && error.retryAfter).toBe(want);
});
