import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '../support/until';
import { restFixture, type FixtureOptions, type RestFixture } from './rest-fixture';

/** Sends bytes and returns all that comes back until the server closes. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let got = '';
    socket.on('data', (chunk) => (got += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(got));
  });
}

function parts(message: string): {
  status: string;
  type: string;
  body: { status: number; title: string; detail?: string };
} {
  const [head = '', body = '{}'] = message.split('\r\n\r\n');
  return {
    status: head.split(' ')[1] ?? '',
    type: /content-type: (.*)/i.exec(head)?.[1] ?? '',
    body: JSON.parse(body),
  };
}

describe('the limits of a request', () => {
  /** A server with preset limits; a thread reads its large bodies. */
  let rest: RestFixture;
  let port: number;
  beforeAll(async () => {
    rest = await restFixture();
    port = await rest.server.listen('127.0.0.1', 0);
  });
  afterAll(() => rest.close());

  /** Runs a step against a server with the given limits. */
  async function withLimits(
    limits: FixtureOptions['limits'],
    step: (port: number, server: RestFixture['server']) => Promise<void>,
  ): Promise<void> {
    const own = await restFixture({ ...(limits && { limits }) });
    try {
      await step(await own.server.listen('127.0.0.1', 0), own.server);
    } finally {
      await own.close();
    }
  }

  const path = '/meshes/default/meshservices/redis';
  const put = (
    payload: string | Buffer,
    type = 'application/json',
    { server } = rest,
  ): ReturnType<RestFixture['server']['inject']> =>
    server.inject({ method: 'PUT', url: path, payload, headers: { 'content-type': type } });

  it('a body larger than allowed is 413', () =>
    withLimits({ body: 1_000 }, async (_, server) => {
      const answer = await put(JSON.stringify({ x: 'y'.repeat(1_000) }), 'application/json', { ...rest, server });
      expect([answer.statusCode, answer.json().title]).toEqual([413, 'Body too large']);
    }));

  it('a large body within the limit is taken', async () => {
    const ports = Array.from({ length: 1_000 }, (_, i) => ({ port: i + 1, name: `${'x'.repeat(55)}-${i}` }));
    const answer = await put(JSON.stringify({ type: 'MeshService', name: 'redis', spec: { ports } }));
    expect(answer.statusCode).toBe(201);
  });

  it('headers larger than allowed are 431', async () => {
    const answer = parts(await raw(port, `GET / HTTP/1.1\r\nhost: x\r\nlong: ${'y'.repeat(70_000)}\r\n\r\n`));
    expect([answer.status, answer.type, answer.body.status]).toEqual([
      '431',
      'application/problem+json; charset=utf-8',
      431,
    ]);
  });

  it('a token that is too long is 401 and named, also where it is very long', async () => {
    for (const length of [16_385, 60_000]) {
      const head = `GET /who-am-i HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${'y'.repeat(length)}`;
      const answer = parts(await raw(port, `${head}\r\nconnection: close\r\n\r\n`));
      expect([answer.status, answer.body.detail]).toEqual([
        '401',
        `the bearer token must not be longer than 16384 characters, has ${length}`,
      ]);
    }
  });

  it.each([{ connections: 3 }, { connectionsPerClient: 3 }])(
    'connections are bounded by %p, and a place is free again when one ends',
    (limits) =>
      withLimits(limits, async (bounded) => {
        const hello = 'GET /who-am-i HTTP/1.1\r\nhost: localhost\r\n';
        const idle = Array.from({ length: 3 }, () => connect(bounded, '127.0.0.1').on('error', () => undefined));
        await Promise.all(idle.map((socket) => once(socket, 'connect')));
        expect(await raw(bounded, `${hello}\r\n`).catch(() => '')).toBe('');
        idle[0]?.destroy();
        const again = (): Promise<string> => raw(bounded, `${hello}connection: close\r\n\r\n`).catch(() => '');
        expect(await until('a place is free', async () => (await again()) || undefined)).toContain('200 OK');
        for (const socket of idle) socket.destroy();
      }),
  );

  it('what is no HTTP is 400', async () => {
    const answer = parts(await raw(port, 'HELLO\r\n\r\n'));
    expect([answer.status, answer.body.title]).toEqual(['400', 'Bad request']);
  });

  it('a request that does not arrive in time is 408', () =>
    withLimits({ requestTimeout: 200 }, async (impatient) => {
      const answer = parts(
        await raw(
          impatient,
          `PUT ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\ncontent-type: application/json\r\n\r\n{`,
        ),
      );
      expect([answer.status, answer.body.title]).toEqual(['408', 'Request timeout']);
    }));

  it.each([
    ['JSON nested deeply', 'application/json', '{"spec":' + '['.repeat(20_000) + ']'.repeat(20_000) + '}', 422],
    ['JSON of many values', 'application/json', '{"spec":' + '['.repeat(100_000) + ']'.repeat(100_000) + '}', 400],
    ['YAML nested deeply', 'application/yaml', '['.repeat(20_000), 400],
    ['YAML nested deeply in blocks', 'application/yaml', '- '.repeat(20_000), 400],
    ['YAML that is long', 'application/yaml', `a: [${'x, '.repeat(100_000)}]`, 413],
    ['YAML of many nodes', 'application/yaml', `a: [${'x, '.repeat(80_000)}]`, 400],
    ['an object of numbers no JSON has', 'application/yaml', 'a: .inf', 422],
    ['text that is not UTF-8', 'application/json', Buffer.from([0x7b, 0xff, 0x7d]), 400],
    [
      'NUL in a value',
      'application/json',
      '{"type":"MeshService","name":"redis","labels":{"a":"\\u0000"},"spec":{}}',
      422,
    ],
    [
      'half a surrogate pair',
      'application/json',
      '{"type":"MeshService","name":"redis","labels":{"a":"\\ud800"},"spec":{}}',
      422,
    ],
  ])('%s is refused', async (_case, type, body, status) => {
    expect((await put(body, type)).statusCode).toBe(status);
  });

  it('YAML that unfolds without end is refused', async () => {
    const lines = Array.from(
      { length: 20 },
      (_, i) => `a${i}: &a${i} [${Array.from({ length: 10 }, () => (i === 0 ? 'x' : `*a${i - 1}`)).join(', ')}]`,
    );
    expect((await put(lines.join('\n'), 'application/yaml')).statusCode).toBe(400);
  });

  it('a name of any length has an answer', async () => {
    const name = 'x'.repeat(4_000);
    const url = `/meshes/default/meshservices/${name}`;
    expect((await rest.server.inject({ url })).statusCode).toBe(404);
    const answer = await rest.server.inject({ method: 'PUT', url, payload: { type: 'MeshService', name, spec: {} } });
    expect([answer.statusCode, answer.json().invalid_parameters[0].field]).toEqual([422, 'name']);
  });

  it('prototypes stay clean', async () => {
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      await put(
        `{"type":"MeshService","name":"redis","labels":{"${key}":"polluted"},"spec":{"${key}":{"polluted":true}}}`,
      );
      await rest.server.inject({
        method: 'PATCH',
        url: path,
        payload: `{"${key}":{"polluted":true}}`,
        headers: { 'content-type': 'application/merge-patch+json' },
      });
      expect(
        (await rest.server.inject({ url: `/meshservices?filter[labels.${key}]=polluted&${key}=1` })).statusCode,
      ).toBe(400);
    }
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect((await rest.server.inject({ url: '/__proto__' })).statusCode).toBe(404);
    expect((await rest.server.inject({ url: '/constructor' })).statusCode).toBe(404);
  });

  it('HEAD answers like GET without a body, OPTIONS says what is possible, a slash at the end does not matter', async () => {
    const head = await rest.server.inject({ method: 'HEAD', url: '/meshes/default/' });
    expect([head.statusCode, head.body, head.headers['etag']]).toEqual([200, '', expect.any(String)]);
    const options = await rest.server.inject({ method: 'OPTIONS', url: path });
    expect([options.statusCode, options.headers['allow']]).toEqual([204, 'DELETE, GET, HEAD, PATCH, PUT, OPTIONS']);
    expect((await rest.server.inject({ method: 'OPTIONS', url: '/nothing' })).statusCode).toBe(404);
    const wrong = await rest.server.inject({ method: 'DELETE', url: '/meshservices' });
    expect([wrong.statusCode, wrong.headers['allow']]).toEqual([405, 'GET, HEAD']);
    const explain = await rest.server.inject({ method: 'PUT', url: '/_explain/hostname', payload: {} });
    expect([explain.statusCode, explain.headers['allow']]).toEqual([405, 'POST']);
  });
});
