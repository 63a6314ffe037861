import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restFixture, serviceId, type RestFixture } from '../rest/rest-fixture';
import { runCauseway, type Ran } from './run-causeway';

const service = (name: string, spec = 'ports: [{port: 6379}]'): string =>
  `type: MeshService\nmesh: default\nname: ${name}\nlabels: {team: db}\nspec:\n  ${spec}\n`;

describe('causeway, as its user runs it', () => {
  let fixture: RestFixture;
  let server: string;
  let folder: string;

  beforeAll(async () => {
    fixture = await restFixture();
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

  it('applies every document of a file, shows them, and deletes them', async () => {
    const path = file('two.yaml', `${service('redis')}---\n${service('memcached')}`);
    const applied = await causeway(['apply', '-f', path]);
    expect(applied.out).toBe('MeshService redis created\nMeshService memcached created\n');
    expect(applied.code).toBe(0);
    expect((await causeway(['apply', '-f', '-'], service('redis'))).out).toBe('MeshService redis updated\n');

    const shown = await causeway(['get', 'msvc']);
    expect(shown.out).toMatch(/NAME .*\n.*memcached.*\n.*redis.* 6379\/tcp/);
    expect(JSON.parse((await causeway(['get', 'meshservices', 'redis', '-o', 'json'])).out)).toMatchObject({
      type: 'MeshService',
      name: 'redis',
    });
    const removed = await causeway(['delete', 'msvc', 'redis', 'memcached']);
    expect(removed.out).toBe('MeshService redis deleted\nMeshService memcached deleted\n');
    expect((await causeway(['get', 'msvc', 'redis'])).code).toBe(1);
  }, 30_000);

  it("shows the server's error with the line of the file, applies the others, and exits with 1", async () => {
    const path = file('bad.yaml', `${service('good')}---\n${service('bad', 'ports: [{port: 99999}, {prot: 1}]')}`);
    const { code, out, err } = await causeway(['apply', '-f', path]);
    expect(out).toBe('MeshService good created\n');
    expect(err).toContain(`${path}:13: MeshService bad: spec.ports[0].port: must be 1 to 65535; got 99999`);
    expect(err).toContain('spec.ports[1].prot: is not a known field; did you mean "port"?');
    expect(code).toBe(1);
  }, 30_000);

  it('writes nothing in a dry run', async () => {
    const { out } = await causeway(['apply', '--dry-run', '-f', '-'], service('dry'));
    expect(out).toBe('MeshService dry created (dry run)\n');
    expect(fixture.index.get(serviceId('dry'))).toBeUndefined();
  }, 30_000);

  it('prunes what carries the selector and is not in the files, and nothing without one', async () => {
    await causeway(['apply', '-f', '-'], `${service('kept')}---\n${service('old')}`);
    const refused = await causeway(['apply', '--prune', '-f', '-'], service('kept'));
    expect(refused).toMatchObject({ code: 2 });
    const { out } = await causeway(['apply', '--prune', '-l', 'team=db', '-f', '-'], service('kept'));
    expect(out).toContain('MeshService old deleted');
    expect(out).not.toContain('MeshService kept deleted');
    expect(fixture.index.get(serviceId('old'))).toBeUndefined();
    expect(fixture.index.get(serviceId('kept'))).toBeDefined();
  }, 30_000);

  it.each([
    ['an unknown kind', ['get', 'meshservces'], 2, /did you mean meshservices/],
    ['a missing file', ['apply', '-f', 'no-such-file.yaml'], 2, /no such file/],
    ['no command line at all', ['frobnicate'], 2, /unknown command/],
    [
      'a server that is away',
      ['--server', 'http://127.0.0.1:9', 'get', 'msvc'],
      1,
      /cannot reach http:\/\/127.0.0.1:9/,
    ],
  ])(
    'says what is wrong with %s',
    async (_, args, code, message) => {
      const ran = await causeway(args);
      expect(ran.err).toMatch(message);
      expect(ran.code).toBe(code);
    },
    30_000,
  );
});
