import { once } from 'node:events';
import { connect } from 'node:net';
import { silentLogger } from '@causeway/runtime';
import { restFixture, serviceId, type ParsedJson, type RestFixture } from './rest-fixture';
import { until } from '../support/until';

const service = (name: string, port = 80): object => ({
  type: 'MeshService',
  name,
  spec: { selector: { dataplaneTags: { app: name } }, ports: [{ port }] },
});
const lines = (...documents: readonly object[]): string => documents.map((one) => `${JSON.stringify(one)}\n`).join('');

describe('POST /_apply', () => {
  let rest: RestFixture;
  beforeEach(async () => void (rest = await restFixture()));
  afterEach(() => rest.close());

  const post = async (payload: string | Buffer, type = 'application/x-ndjson', query = ''): Promise<ParsedJson> => {
    const headers = type === '' ? {} : { 'content-type': type };
    const answer = await rest.server.inject({ method: 'POST', url: `/_apply${query}`, payload, headers });
    if (answer.statusCode !== 200) return { status: answer.statusCode, problem: answer.json() };
    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const all = answer.body
      .trimEnd()
      .split('\n')
      .map((line): ParsedJson => JSON.parse(line));
    return {
      status: 200,
      progress: all.filter((line) => 'progress' in line),
      results: all.filter((line) => 'index' in line),
      ...all.at(-1),
    };
  };

  it.each([
    ['JSON lines', 'application/x-ndjson', lines(service('a'), service('b'))],
    ['a JSON list', 'application/json', JSON.stringify([service('a'), service('b')], null, 2)],
    [
      'YAML documents',
      'application/yaml',
      [service('a'), service('b')].map((one) => JSON.stringify(one)).join('\n---\n'),
    ],
  ])('creates the resources of %s, in their order', async (_, type, body) => {
    const { status, results, summary } = await post(body, type);
    expect([status, results.map(({ name, outcome }: ParsedJson) => [name, outcome])]).toEqual([
      200,
      [
        ['a', 'created'],
        ['b', 'created'],
      ],
    ]);
    expect(summary).toEqual({
      total: 2,
      created: 2,
      updated: 0,
      unchanged: 0,
      refused: 0,
      skipped: 0,
      atomic: false,
      dryRun: false,
      written: true,
      revision: (await rest.store.head()).revision,
    });
    const [a, b] = await Promise.all([rest.store.get(serviceId('a')), rest.store.get(serviceId('b'))]);
    expect((a?.creationOrder ?? 0) < (b?.creationOrder ?? 0)).toBe(true);
    const read = await rest.server.inject({ url: '/meshes/default/meshservices/b' });
    expect([read.statusCode, results[1].etag]).toEqual([200, read.headers['etag']]);
  });

  const yaml = `type: MeshService
name: a
spec:
  selector: { dataplaneTags: { app: a } }
  ports:
  - port: 80
---
# the second
type: MeshService
name: b
spec:
  selector: { dataplaneTags: { app: b } }
  ports:
  - port: 80
  - port: 99999
`;

  it.each([
    ['YAML', 'application/yaml', yaml],
    ['JSON lines', 'application/x-ndjson', lines(service('a'), service('b', 99_999))],
    ['JSON', 'application/json', JSON.stringify([service('a'), service('b', 99_999)], null, 1)],
    ['JSON on one line', 'application/json', JSON.stringify([service('a'), service('b', 99_999)])],
  ])('says line and column of the field at fault in %s', async (_, type, body) => {
    const from = ({ line, column }: ParsedJson): string => (body.split('\n')[line - 1] ?? '').slice(column - 1);
    const { results, summary } = await post(body, type);
    expect(summary).toMatchObject({ created: 1, refused: 1, written: true });
    expect(results[1]).toMatchObject({ index: 1, type: 'MeshService', name: 'b', outcome: 'refused', status: 422 });
    const [violation] = results[1].invalid_parameters;
    expect(violation.field).toMatch(/^spec\.ports\[.\]\.port$/);
    expect(from(violation)).toMatch(/^"?port"?: ?99999/);
    expect(from(results[1])).toMatch(/^(\{$|\{"type"|type:)/);
  });

  it('writes all or nothing', async () => {
    const before = await rest.store.head();
    const refused = await post(lines(service('a'), service('b', 0)), 'application/x-ndjson', '?atomic=true');
    expect(refused.results.map(({ outcome }: ParsedJson) => outcome)).toEqual(['skipped', 'refused']);
    expect([refused.summary.written, await rest.store.head()]).toEqual([false, before]);
    const written = await post(lines(service('a'), service('b')), 'application/x-ndjson', '?atomic=true');
    expect(written.summary).toMatchObject({ created: 2, written: true });
  });

  it('names one bad of many with line and field, and writes the others or none', async () => {
    // The largest batch: test/contract/api-contract.spec.ts.
    const all = Array.from({ length: 2_500 }, (_, i) => service(`s-${i}`, i === 1_653 ? 0 : 80));
    const atomic = await post(lines(...all), 'application/x-ndjson', '?atomic=true');
    expect(atomic.summary).toMatchObject({ refused: 1, skipped: 2_499, written: false });
    const each = await post(lines(...all));
    expect(each.summary).toMatchObject({ created: 2_499, refused: 1, written: true });
    for (const { results } of [atomic, each])
      expect(results[1_653]).toMatchObject({
        line: 1_654,
        outcome: 'refused',
        detail: '1 field breaks a rule',
        invalid_parameters: [{ field: 'spec.ports[0].port', line: 1_654 }],
      });
    expect(each.progress.length).toBeGreaterThan(0);
    expect(each.progress.at(-1)).toMatchObject({ of: 2_500, written: 2_499 });
  });

  it('refuses two documents of one resource and says where they are', async () => {
    const { results } = await post(lines(service('a'), service('b'), service('a', 81)));
    expect(results.map(({ outcome, sameAs }: ParsedJson) => [outcome, sameAs])).toEqual([
      ['refused', 2],
      ['created', undefined],
      ['refused', 0],
    ]);
    expect(results[0].invalid_parameters[0].reason).toContain('at line 1 and at line 3');
  });

  it('compares on a dry run', async () => {
    await post(lines(service('a'), service('same')));
    const before = await rest.store.head();
    const { results, summary } = await post(
      lines(service('a', 81), service('same'), service('new')),
      'application/x-ndjson',
      '?dryRun=true',
    );
    expect(results[0].diff).toMatchObject({
      before: { spec: { ports: [{ port: 80 }] } },
      after: { spec: { ports: [{ port: 81 }] } },
    });
    expect([results[1].diff, results[2].diff.before]).toEqual([undefined, null]);
    expect([summary.written, await rest.store.head()]).toEqual([false, before]);
  });

  it.each<[string, string | Buffer, string, readonly [number, RegExp]]>([
    ['nothing', '', 'application/x-ndjson', [400, /empty/]],
    ['blanks', ' \n', 'application/x-ndjson', [400, /empty/]],
    ['garbage', 'hello', 'application/x-ndjson', [400, /line 1, column 1: a JSON object/]],
    ['half a line', `${lines(service('a'))}{"type":"Mesh`, 'application/x-ndjson', [400, /line 2.*ends inside/]],
    ['a NUL', `${lines(service('a'))}\0`, 'application/x-ndjson', [400, /line 2, column 1.*0x00/]],
    ['a bad line', `{}\n{"a": nope}\n`, 'application/x-ndjson', [400, /line 2, column \d+: this is not JSON/]],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'application/x-ndjson', [400, /UTF-8/]],
    ['a form', 'a=b', 'application/x-www-form-urlencoded', [415, /application\/x-www-form-urlencoded/]],
    ['bad YAML', 'a: 1\na: 2\n', 'application/yaml', [400, /line 2, column 1/]],
    ['too much YAML', `# ${'x'.repeat(1_100_000)}`, 'application/yaml', [413, /1048576 bytes/]],
    [
      'too many',
      '{}\n'.repeat(10_001),
      'application/x-ndjson',
      [400, /line 10001, column 1: there are more than 10000/],
    ],
    [
      'a long line',
      lines({ a: 'x'.repeat(1_100_000) }),
      'application/x-ndjson',
      [400, /line 1, column 1: the document has more/],
    ],
    [
      'too many values',
      lines({ a: Array.from({ length: 60_000 }, () => ({})) }),
      'application/x-ndjson',
      [400, /line 1.*50000/],
    ],
  ])('refuses %s as a whole and writes nothing', async (_, body, type, [status, detail]) => {
    const before = await rest.store.head();
    const { problem, ...answer } = await post(body, type);
    expect(answer.status).toBe(status);
    expect(problem.detail).toMatch(detail);
    expect(await rest.store.head()).toEqual(before);
  });

  it('refuses a bad query, and a caller from elsewhere before it reads anything', async () => {
    const { problem } = await post('{}', 'application/json', '?atomic=yes&dry=true');
    expect(problem.invalid_parameters.map(({ field }: ParsedJson) => field)).toEqual(['dry', 'atomic']);
    await rest.close();
    rest = await restFixture({ access: { open: false } });
    const away = await rest.server.inject({
      method: 'POST',
      url: '/_apply',
      payload: lines(service('a')),
      remoteAddress: '10.1.2.3',
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(away.statusCode).toBe(401);
    expect(await rest.store.get(serviceId('a'))).toBeUndefined();
  });

  it('writes nothing of a body that is broken off, and serves others afterwards', async () => {
    const port = await rest.server.listen('127.0.0.1', 0);
    const before = await rest.store.head();
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const head = `POST /_apply HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-type: application/x-ndjson\r\ncontent-length: 100000\r\n\r\n`;
    socket.write(`${head}${lines(service('a'), service('b'))}`);
    socket.end();
    socket.resume();
    await once(socket, 'close');
    expect(await rest.store.head()).toEqual(before);
    const answer = await fetch(`http://localhost:${port}/_apply`, {
      method: 'POST',
      body: lines(service('a')),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect((await answer.text()).trimEnd().split('\n')).toHaveLength(2);
  });

  it('finishes a batch whose client goes while it is written, and logs what became of it', async () => {
    const logged: unknown[] = [];
    const warn = (message: string, fields: unknown): void => void logged.push([message, fields]);
    await rest.close();
    rest = await restFixture({ logger: { ...silentLogger, warn } });
    const port = await rest.server.listen('127.0.0.1', 0);
    const real = rest.store.write.bind(rest.store);
    const socket = connect(port, '127.0.0.1');
    rest.store.write = async (request) => {
      socket.destroy();
      await once(socket, 'close');
      return real(request);
    };
    await once(socket, 'connect');
    const body = lines(...Array.from({ length: 2_000 }, (_, i) => service(`s-${i}`)));
    socket.write(
      `POST /_apply HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-type: application/x-ndjson\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until('it is logged', () => Promise.resolve(logged.length > 0));
    expect(logged).toMatchObject([['the client of a batch did not read its results', { summary: { created: 2_000 } }]]);
    expect(await rest.store.get(serviceId('s-1999'))).toBeDefined();
  });
});
