import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonArray, isJsonObject, type JsonValue } from '@causeway/resources';
import { parse } from 'yaml';
import { meshId, restFixture, serviceId, type RestFixture } from '../rest/rest-fixture';
import { runCauseway } from './run-causeway';

/** A title of a window, colours and a cleared screen, C1, text that runs backwards, a forged line, an invisible tag. */
const HOSTILE = '\u001b]0;owned\u0007\u001b[2J\u001b[31m\u009b32m\u202Egnp\nMeshService forged\r\u2028\u{E0041}\u007f';
/** Characters that a terminal interprets; line feeds and tabs are the program's own. */
const OBEYED = /(?![\n\t])[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/u;
/** Answers that a command reads on its way: with hostile texts it would stop there. */
const PLAIN = new Set([
  'type',
  'kind',
  'name',
  'mesh',
  'namespace',
  'zone',
  'role',
  'rule',
  'code',
  'version',
  'outcome',
]);

/** Returns the answer with a hostile text behind each of its texts. */
function poisoned(value: JsonValue, key = ''): JsonValue {
  if (typeof value === 'string') return PLAIN.has(key) ? value : `${value}${HOSTILE}`;
  if (isJsonArray(value)) return value.map((one) => poisoned(one, key));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, poisoned(one ?? null, name)]));
}

function poisonedBody(text: string): string {
  const lines = text.split('\n').map((line) => {
    try {
      return JSON.stringify(poisoned(JSON.parse(line)));
    } catch {
      return line;
    }
  });
  try {
    return JSON.stringify(poisoned(JSON.parse(text)));
  } catch {
    return lines.join('\n');
  }
}

describe('what servers say is shown and never obeyed', () => {
  let fixture: RestFixture;
  let upstream: string;
  let server: Server;
  let hostile: string;

  beforeAll(async () => {
    fixture = await restFixture();
    upstream = `http://127.0.0.1:${await fixture.server.listen('127.0.0.1', 0)}`;
    const condition = { type: 'Accepted', status: 'False', reason: 'Bad', message: `no: ${HOSTILE}` };
    const addresses = [
      {
        hostname: 'redis.mesh',
        status: 'NotAvailable',
        origin: { kind: 'HostnameGenerator', name: 'g' },
        reason: HOSTILE,
      },
    ];
    await fixture.seed(
      { id: meshId('default'), spec: { description: HOSTILE } },
      {
        id: serviceId('redis'),
        labels: { team: 'db' },
        spec: { ports: [{ port: 80, targetPort: 80, appProtocol: 'tcp', name: 'a' }] },
        status: { conditions: [condition], addresses },
      },
    );
    server = createServer((request, answer) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = 'GET', url = '/', headers } = request;
        const body = method === 'GET' ? null : Buffer.concat(chunks);
        const type = headers['content-type'];
        void fetch(`${upstream}${url}`, { method, body, headers: type ? { 'content-type': type } : {} })
          .then(async (found) => {
            const etag = found.headers.get('etag');
            answer.writeHead(found.status, {
              'content-type': found.headers.get('content-type') ?? 'application/json',
              ...(etag === null ? {} : { etag }),
            });
            answer.end(poisonedBody(await found.text()));
          })
          .catch(() => answer.destroy());
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    hostile = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server?.close();
    await fixture?.close();
  });

  const document = 'type: MeshService\nmesh: default\nname: redis\nspec: {ports: [{port: 81}], bad: 1}\n';
  it.each<[args: readonly string[], stdin?: string]>([
    [['get', 'meshes']],
    [['get', 'meshservices', '-o', 'wide']],
    [['get', 'meshservice', 'redis', '-o', 'yaml']],
    [['get', 'meshservice', 'redis', '-o', 'json']],
    [['get', 'meshservice', 'redis', '-o', 'jsonpath={.status.conditions[0].message}']],
    [['get', 'meshservice', 'nosuch']],
    [['describe', 'meshservice', 'redis']],
    [['describe', 'mesh', 'default']],
    [['hostnames']],
    [['hostnames', '-o', 'yaml']],
    [['explain', 'redis.mesh']],
    [['explain', 'redis.mesh', '-o', 'json']],
    [['vips']],
    [['dig', 'redis.mesh']],
    [['doctor']],
    [['doctor', '-o', 'yaml']],
    [['zones']],
    [['proxies', 'list']],
    [['leases']],
    [['policies', 'meshservice/redis']],
    [['topology']],
    [['audit']],
    [['auth', 'whoami']],
    [['tokens', 'list']],
    [['version']],
    [['instances', 'redis']],
    [['apply', '-f', '-'], document],
    [['diff', '-f', '-'], document.replace(', bad: 1', '')],
    [['apply', '-f', '-', '--dry-run', '--diff'], document.replace(', bad: 1', '')],
    [['delete', 'meshservice', 'redis', '--dry-run']],
    [['label', 'meshservice', 'redis', 'a=b', '--dry-run']],
  ])('%j', async (args, stdin = '') => {
    const { out, err } = await runCauseway(hostile, args, stdin);
    expect(`${out}${err}`).not.toMatch(OBEYED);
    // A path of JSON gives a value with its lines, for scripts.
    const forged = `${out}${err}`.split('\n').filter((line) => line.startsWith('MeshService forged'));
    if (!args.join().includes('jsonpath')) expect(forged).toEqual([]);
    expect(err).not.toMatch(/^\s+at /m);
  });

  it('YAML and JSON that are printed can be applied back: read again they are the same', async () => {
    const global = await restFixture({ cp: { role: 'global' } });
    try {
      const url = `http://127.0.0.1:${await global.server.listen('127.0.0.1', 0)}`;
      await global.seed({ id: meshId('default'), spec: { description: HOSTILE } });
      const read = async (): Promise<unknown> => (await fetch(`${url}/meshes/default`)).json();
      const stored = await read();
      const printed = await Promise.all(
        ['yaml', 'json'].map(async (form) => (await runCauseway(url, ['get', 'mesh', 'default', '-o', form])).out),
      );
      expect(printed.map((text): unknown => parse(text))).toEqual([stored, stored]);
      for (const text of printed)
        expect(await runCauseway(url, ['apply', '-f', '-'], text)).toMatchObject({ code: 0, err: '' });
      expect(await read()).toMatchObject({ spec: { description: HOSTILE } });
    } finally {
      await global.close();
    }
  });
});
