import { globalIdentity } from '@causeway/resources';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { restFixture, serviceId, type RestFixture } from '../rest/rest-fixture';
import { runCauseway, type Ran } from './run-causeway';

const service = (name: string, spec = 'ports: [{port: 6379}]'): string =>
  `type: MeshService\nmesh: default\nname: ${name}\nlabels: {team: db}\nspec:\n  ${spec}\n`;

describe('causeway, as its user runs it', () => {
  let fixture: RestFixture;
  let server: string;
  let folder: string;

  beforeAll(async () => {
    const deletionWarnings = ({ name }: { readonly name: string }): readonly string[] =>
      name === 'one' ? ['web needs it'] : [];
    fixture = await restFixture({ insights: { deletionWarnings } });
    server = `http://127.0.0.1:${await fixture.server.listen('127.0.0.1', 0)}`;
    folder = mkdtempSync(join(tmpdir(), 'causeway-ctl-'));
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await fixture.close();
  });

  const causeway = (args: readonly string[], stdin = ''): Promise<Ran> => runCauseway(server, args, stdin);

  function file(name: string, content: string): string {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  }

  it('T000-02 takes the nouns of an XMesh as those of a Mesh', async () => {
    const [plain, ...others] = await Promise.all(
      ['meshes', 'xmeshes', 'xmesh', 'XMesh', 'm'].map((noun) => causeway(['get', noun, 'default', '-o', 'json'])),
    );
    expect(JSON.parse(plain?.out ?? '')).toMatchObject({
      type: 'Mesh',
      name: 'default',
      status: { awsName: 'default', conditions: [{ type: 'Accepted', status: 'Unknown', reason: 'Pending' }] },
    });
    expect(others.map(({ out }) => out)).toEqual(others.map(() => plain?.out));
    expect((await causeway(['get', 'xmeshes/default'])).out).toMatch(/^NAME .*\ndefault /);
    expect((await causeway(['get', 'ymeshes', 'default'])).code).toBe(2);
  });

  it('applies every document of a file, shows them, and deletes them', async () => {
    const path = file('two.yaml', `${service('redis')}---\n${service('memcached')}`);
    const applied = await causeway(['apply', '-f', path]);
    expect(applied.out).toBe('MeshService redis created\nMeshService memcached created\n');
    expect(applied.code).toBe(0);
    expect((await causeway(['apply', '-f', '-'], service('redis'))).out).toBe('MeshService redis unchanged\n');
    const changed = await causeway(['apply', '-f', '-'], service('redis').replace('db', 'cache'));
    expect(changed.out).toBe('MeshService redis updated\n');

    const shown = await causeway(['get', 'msvc']);
    expect(shown.out).toMatch(/NAME .*\n.*memcached.*\n.*redis.* 6379\/tcp/);
    expect(JSON.parse((await causeway(['get', 'meshservices', 'redis', '-o', 'json'])).out)).toMatchObject({
      type: 'MeshService',
      name: 'redis',
    });
    const removed = await causeway(['delete', 'msvc', 'redis', 'memcached']);
    expect(removed.out).toBe('MeshService redis deleted\nMeshService memcached deleted\n');
    expect((await causeway(['get', 'msvc', 'redis'])).code).toBe(1);
  });

  it("shows the server's error with the line of the file, applies the others, and exits with 1", async () => {
    const path = file('bad.yaml', `${service('good')}---\n${service('bad', 'ports: [{port: 99999}, {prot: 1}]')}`);
    const { code, out, err } = await causeway(['apply', '-f', path]);
    expect(out).toBe('MeshService good created\n');
    expect(err).toContain(`${path}:13:12: MeshService bad: spec.ports[0].port: must be 1 to 65535; got 99999`);
    expect(err).toContain('spec.ports[1].prot: is not a known field; did you mean "port"?');
    expect(code).toBe(1);
  });

  it('writes nothing in a dry run', async () => {
    const { out } = await causeway(['apply', '--dry-run', '-f', '-'], service('dry'));
    expect(out).toBe('MeshService dry created (dry run)\n');
    expect(fixture.index.get(serviceId('dry'))).toBeUndefined();
  });

  it('shows what a dry run would change, without colours where nobody looks', async () => {
    await causeway(['apply', '-f', '-'], service('shown'));
    const { out } = await causeway(['apply', '--dry-run', '-f', '-'], service('shown').replace('db', 'cache'));
    expect(out).toContain('MeshService shown updated (dry run)\n@@ ');
    expect(out).toMatch(/\n-  team: db\n\+  team: cache\n/);
  });

  it('writes all or nothing with --atomic, and says so', async () => {
    const path = file('atomic.yaml', `${service('first')}---\n${service('bad', 'ports: [{port: 0}]')}`);
    const { code, out, err } = await causeway(['apply', '--atomic', '-f', path]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /atomic\.yaml:13:\d+: MeshService bad: spec\.ports\[0\]\.port: .*\nnothing was written: 1 of 2/,
    );
    expect(fixture.index.get(serviceId('first'))).toBeUndefined();
  });

  it('names both places of a resource that stands twice, in whatever files', async () => {
    const [one, two] = [
      file('one.yaml', service('twice')),
      file('two.json', '{"type": "MeshService",\n "name": "twice"}'),
    ];
    const { code, err } = await causeway(['apply', '-f', one, two]);
    expect(code).toBe(1);
    expect(err).toContain(`${one}:3:1: MeshService twice: stands twice; the other is at ${two}:2:2`);
    expect(err).toContain(`${two}:2:2: MeshService twice: stands twice; the other is at ${one}:3:1`);
  });

  it('summarises thousands of documents, and lists those at fault', async () => {
    const line = (i: number): string =>
      JSON.stringify({
        type: 'MeshService',
        name: `many-${i}`,
        labels: { many: 'y' },
        spec: { ports: [{ port: i === 1_500 ? 0 : 80 }] },
      });
    const path = file('many.jsonl', Array.from({ length: 2_000 }, (_, i) => line(i)).join('\n'));
    const { code, out, err } = await causeway(['apply', '-f', path]);
    expect([code, out]).toEqual([1, '2000 documents: 1999 created, 1 refused\n']);
    expect(err).toMatch(/^.*many\.jsonl:1501:\d+: MeshService many-1500: spec\.ports\[0\]\.port: .*\n$/);
  });

  it('prunes what carries the selector and is not in the files, and nothing without one', async () => {
    const elsewhere = `${service('kept')}namespace: elsewhere\n`;
    await causeway(['apply', '-f', '-'], [service('kept'), service('old'), elsewhere].join('---\n'));
    // Pruning deletes a copy at its origin.
    await fixture.seed({ id: serviceId('copy', 'west'), labels: { team: 'db' }, spec: {} });
    const refused = await causeway(
      ['apply', '--prune', '-f', '-'],
      `${service('kept', 'ports: []')}---\n${service('new')}`,
    );
    expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--prune needs --selector') });
    expect(fixture.index.get(serviceId('new'))).toBeUndefined();
    const { code, out, err } = await causeway(['apply', '--prune', '-l', 'team=db', '-f', '-'], service('kept'));
    expect([code, err.split('\n').filter((line) => !/^( {2}warning: .*)?$/.test(line))]).toEqual([0, []]);
    expect(out).toContain('MeshService old deleted');
    expect(out.split('\n').filter((line) => line === 'MeshService kept deleted')).toHaveLength(1);
    expect(fixture.index.get(serviceId('old'))).toBeUndefined();
    expect(fixture.index.get({ ...serviceId('kept'), namespace: 'elsewhere' })).toBeUndefined();
    expect(fixture.index.get(serviceId('copy', 'west'))).toBeDefined();
    const generator = (name: string): string =>
      `type: HostnameGenerator\nname: ${name}\nlabels: {team: names}\nspec: {selector: {meshService: {}}, template: ${name}}\n`;
    await causeway(['apply', '-f', '-'], `${generator('past')}---\n${generator('present')}`);
    const names = await causeway(['apply', '--prune', '-l', 'team=names', '-f', '-'], generator('present'));
    expect([names.code, names.out]).toEqual([
      0,
      'HostnameGenerator present unchanged\nHostnameGenerator past deleted\n',
    ]);
    expect(fixture.index.get(serviceId('kept'))).toBeDefined();
  });

  it('shows no value of a secret when it is described', async () => {
    const data = Buffer.from('-----BEGIN RSA PRIVATE KEY-----').toString('base64');
    await fixture.seed({
      id: globalIdentity('GlobalSecret', 'key'),
      spec: { data },
    });
    const { code, out } = await causeway(['describe', 'globalsecret', 'key', '-z', '']);
    expect(out).toMatch(/data: "?\*{5} \(31 bytes\)"?/);
    expect([code, out.includes(data)]).toEqual([0, false]);
  });

  it('deletes every name that is there, says of each other what is wrong, and exits with 1', async () => {
    await causeway(['apply', '-f', '-'], `${service('one')}---\n${service('two')}`);
    const { code, out, err } = await causeway(['delete', 'msvc', 'nope', 'one', 'nope2', 'two']);
    expect(out).toBe('MeshService one deleted\nMeshService two deleted\n');
    expect(err.split('\n').map((line) => line.split(' ', 3).slice(0, 3).join(' '))).toEqual([
      'MeshService nope: Not',
      '  warning:',
      'MeshService nope2: Not',
      '',
    ]);
    expect(err).toContain('  warning: web needs it\n');
    expect(code).toBe(1);
  });

  it.each([[['explain', 'http://web.mesh/a']], [['explain', 'hostname', 'http://web.mesh/a']]])(
    'takes no URL for a hostname: %j',
    async (words) => {
      const said =
        'http://web.mesh/a: is a URL and no hostname; causeway explain request --to http://web.mesh/a explains a request\n';
      expect(await causeway(words)).toMatchObject({ code: 2, out: '', err: said });
    },
  );

  it('tells its version without a server, as a command and as an option', async () => {
    const says = { code: 0, out: expect.stringMatching(/^causeway \d+\.\d+\.\d+\n$/), err: '' };
    expect(await Promise.all([causeway(['--version']), causeway(['version', '--client'])])).toMatchObject([says, says]);
  });

  it('takes the address of a server without a scheme, and one below a path', async () => {
    await causeway(['apply', '-f', '-'], service('redis'));
    const bare = server.slice('http://'.length);
    expect((await causeway(['-s', bare, 'get', 'msvc', 'redis'])).code).toBe(0);
    const asked: (string | undefined)[] = [];
    // Answers as a server behind it does, which knows nothing of the path: its next page is below the root.
    const proxy = createServer(({ url = '', headers }, response) => {
      asked.push(url);
      const next = url.includes('offset') ? null : `http://${headers.host}/meshes/default/meshservices?offset=1000`;
      const answer = url.endsWith('/_resources')
        ? { resources: [], defaultMesh: 'default' }
        : { total: 0, items: [], next };
      response.end(JSON.stringify(answer));
    });
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
    const { port } = proxy.address() as AddressInfo;
    for (const slash of ['', '/']) await causeway(['-s', `http://127.0.0.1:${port}/east/cp${slash}`, 'get', 'msvc']);
    proxy.close();
    const pages = ['size=1000&cursor=', 'offset=1000'].map((query) => `/east/cp/meshes/default/meshservices?${query}`);
    // Commands that resolve the default mesh.
    const asks = ['/east/cp/_resources', ...pages];
    expect(asked).toEqual([...asks, ...asks]);
  });

  it('ends quietly when nobody reads on', async () => {
    const many = Array.from({ length: 2_000 }, (_, i) => ({ id: serviceId(`many-${i}-${'x'.repeat(40)}`) }));
    await fixture.seed({ id: serviceId('lone'), labels: { team: 'lone' } }, ...many);
    const ran = async (args: string): Promise<object> => {
      const command = `node dist/apps/ctl/src/main.js -s ${server} ${args} | head -1`;
      const child = spawn('sh', ['-c', command], { cwd: resolve(__dirname, '..', '..') });
      const exited = new Promise<number | null>((done) => child.once('close', done));
      const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
      return { code, err, lines: out.split('\n').length - 1 };
    };
    for (const args of ['get msvc', 'get msvc -o yaml', 'get msvc -w', 'get msvc -w -l team=lone']) {
      expect(await ran(args)).toEqual({ code: 0, err: '', lines: 1 });
    }
  });

  it.each([
    ['an unknown kind', ['get', 'meshservces'], 2, /did you mean meshservices/],
    ['a missing file', ['apply', '-f', 'no-such-file.yaml'], 2, /no such file/],
    ['no command line at all', ['frobnicate'], 2, /unknown command/],
    ['help of an unknown command', ['help', 'gett'], 2, /unknown command 'gett'\n\(Did you mean get\?\)/],
    ['help of an unknown command below another', ['tokens', 'help', 'nosuch'], 2, /unknown command 'nosuch'/],
    [
      'an address that is none',
      ['-s', 'ftp://127.0.0.1', 'get', 'msvc'],
      2,
      /^"ftp:\/\/127.0.0.1" is no address .*\n$/,
    ],
    ['a port that is none', ['-s', 'localhost:x', 'get', 'msvc'], 2, /^"localhost:x" is no address .*\n$/],
    [
      'a server that is away',
      ['--server', 'http://127.0.0.1:9', 'get', 'msvc'],
      1,
      /cannot reach http:\/\/127.0.0.1:9/,
    ],
  ])('says what is wrong with %s', async (_, args, code, message) => {
    const ran = await causeway(args);
    expect(ran.err).toMatch(message);
    expect(ran.code).toBe(code);
  });
});
