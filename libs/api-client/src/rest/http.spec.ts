import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, type ConnectionError } from '../api-error';
import { listProxies, showWorkloadAuthority } from '@causeway/api';
import type { Connection } from '../api-client';
import { HttpTransport } from './http';
import { RestCalls } from './rest-calls';

async function serve(handler: RequestListener): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Runs calls against a server of this process. */
async function withCalls<T>(
  handler: RequestListener,
  run: (rest: RestCalls, url: string) => Promise<T>,
  { path = '', ...more }: Partial<Connection> & { readonly path?: string } = {},
): Promise<T> {
  const { server, url } = await serve(handler);
  const http = new HttpTransport({ server: new URL(`${url}${path}`), ...more });
  try {
    return await run(new RestCalls(http), url);
  } finally {
    http.close();
    await new Promise((done) => server.close(done));
  }
}

it('sends the token to its server alone, also for the next page of a server that is seen by another name', async () => {
  const asked: (string | undefined)[] = [];
  const next = ['https://proxy.invalid/_proxies?size=1&offset=1', null];
  const handler: RequestListener = ({ url: path, headers: { authorization } }, response) => {
    asked.push(`${path} ${authorization}`);
    response.end(JSON.stringify({ total: 2, items: [], next: next.shift() }));
  };
  const query = { size: 1, connected: true };
  const items = await withCalls(handler, (rest) => rest.items(listProxies, { query }), {
    path: '/causeway/',
    token: 't',
  });
  expect(items).toEqual([]);
  expect(asked).toEqual([
    '/causeway/_proxies?size=1&connected=true Bearer t',
    '/causeway/_proxies?size=1&offset=1 Bearer t',
  ]);
});

const AUTHORITY = { step: 'steady', missing: { total: 0, items: [] }, authorities: [] };

it.each([
  ['an older server, a newer one', { ...AUTHORITY, step: 'new step', later: { more: 1 } }, undefined],
  ['a field that is missing', { step: 'steady', authorities: [] }, 'missing is missing'],
  [
    'a field deep inside of another type',
    { ...AUTHORITY, missing: { total: 1, items: ['a', 7] } },
    'missing.items[1] is not of type string',
  ],
  ['an optional field of another type', { ...AUTHORITY, since: 7 }, 'since is not of type string'],
  ['no object', [], 'the answer is not of type object'],
])('takes an answer that it can read, and names server, request and field of others: %s', async (_, answer, misfit) => {
  const handler: RequestListener = (_request, response) => response.end(JSON.stringify(answer));
  const [found, url] = await withCalls(handler, async (rest, at) => {
    const result: unknown = await rest.call(showWorkloadAuthority).catch((error: unknown) => error);
    return [result, at];
  });
  if (misfit === undefined) return expect(found).toEqual(answer);
  expect(found).toBeInstanceOf(ApiError);
  expect(found).toMatchObject({
    code: 'internal',
    message: `${url}: the answer to GET /_ca cannot be read: ${misfit}: is it a control plane?`,
  });
});

it.each([
  ['2', 2_000],
  ['0', 0],
  ['Fri, 31 Dec 2027 23:59:59 GMT', undefined],
  ['', undefined],
])('tells what a refusal says of the next try: Retry-After: %s', async (header, want) => {
  const handler: RequestListener = (_request, response) => {
    response.writeHead(429, { ...(header === '' ? {} : { 'retry-after': header }) });
    response.end('{"title": "Too many requests", "detail": "wait"}');
  };
  const error = await withCalls(handler, (rest): Promise<unknown> =>
    rest.call(showWorkloadAuthority).catch((refusal: unknown) => refusal),
  );
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 'exhausted', message: 'wait' });
  expect(error instanceof ApiError && error.retryAfter).toBe(want);
});

it('tells a server that ends the connection before it answers from one that speaks no HTTP', async () => {
  const problems: unknown[] = [];
  const ask = (rest: RestCalls): Promise<unknown> =>
    rest.call(showWorkloadAuthority).catch((error: ConnectionError) => problems.push(error.problem));
  await withCalls(({ socket }) => void socket.destroy(), ask);
  await withCalls(({ socket }) => void socket.end('PRI * HTTP/2.0\r\n\r\n'), ask);
  expect(problems).toEqual(['ended-early', 'not-http']);
});
