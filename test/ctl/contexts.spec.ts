import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restFixture, serviceId, type RestFixture } from '../rest/rest-fixture';
import { runCauseway, type Ran, type RunEnvironment } from './run-causeway';

const jwt = (claims: object): string =>
  ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'c2ln'].join('.');

const token = jwt({ Name: 'jane', exp: Math.floor(Date.now() / 1_000) + 90 * 86_400 });

describe('causeway config', () => {
  let fixture: RestFixture;
  let server: string;
  let folder: string;
  let file: string;

  beforeAll(async () => {
    fixture = await restFixture({ access: { operatorToken: token } });
    server = `http://127.0.0.1:${await fixture.server.listen('127.0.0.1', 0)}`;
    await fixture.seed({ id: serviceId('redis') });
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-contexts-'));
    file = join(folder, 'causeway', 'contexts.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  afterAll(() => fixture.close());

  const causeway = (args: readonly string[], env: RunEnvironment = {}, stdin = ''): Promise<Ran> =>
    runCauseway('', args, stdin, { CAUSEWAY_CONTEXTS_FILE: undefined, XDG_CONFIG_HOME: folder, ...env });

  it('makes, lists, uses and deletes contexts, in a file that nobody else reads', async () => {
    const made = await causeway(['config', 'set-context', 'east', '-s', server, '--token', '-'], {}, `${token}\n`);
    expect(made).toEqual({ code: 0, err: '', out: 'context east created, and in use\n' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await causeway(['config', 'set-context', 'west', '-s', 'http://127.0.0.1:9', '-m', 'shop']);
    const { out } = await causeway(['config', 'get-contexts']);
    expect(out.split('\n').map((line) => line.replace(/ +/g, ' '))).toEqual([
      'CURRENT NAME SERVER MESH TOKEN',
      expect.stringMatching(new RegExp(`^\\* east ${server} jane, expires in (89|90)d$`)),
      ' west http://127.0.0.1:9 shop',
      '',
    ]);
    expect((await causeway(['get', 'msvc', 'redis'])).code).toBe(0);
    expect((await causeway(['--context', 'west', 'get', 'msvc'])).err).toContain('cannot reach http://127.0.0.1:9');
    expect((await causeway(['get', 'msvc'], { CAUSEWAY_CONTEXT: 'west' })).err).toContain('cannot reach');
    expect((await causeway(['config', 'use-context', 'west'])).out).toBe('context west is in use\n');
    expect((await causeway(['config', 'current-context'])).out).toBe('west\n');
    expect((await causeway(['config', 'delete-context', 'west'])).out).toBe('context west deleted\n');
    expect((await causeway(['config', 'current-context'])).code).toBe(1);
  });

  it('shows tokens only when asked, and keeps one out of no other place', async () => {
    await causeway(['config', 'set-context', 'east', '-s', server, '--token', 'hidden-token']);
    for (const args of [
      ['config', 'view'],
      ['config', 'view', '-o', 'json'],
      ['config', 'get-contexts', '-o', 'json'],
    ]) {
      const { out } = await causeway(args);
      expect(out).not.toContain('hidden-token');
      expect(out).toContain('east');
    }
    expect((await causeway(['config', 'view', '--raw'])).out).toContain('hidden-token');
  });

  it('changes only what is named', async () => {
    await causeway(['config', 'set-context', 'east', '-s', server, '--token', 'old']);
    await causeway(['config', 'set-context', 'east', '--token-file', join(folder, 'token'), '-m', 'shop']);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      currentContext: 'east',
      contexts: { east: { server, tokenFile: join(folder, 'token'), mesh: 'shop' } },
    });
  });

  it('sends the token of a context to its server only, and uses its mesh', async () => {
    await causeway(['config', 'set-context', 'east', '-s', server, '--token-file', '/nonexistent']);
    expect((await causeway(['get', 'msvc'])).err).toBe('/nonexistent: cannot be read (ENOENT)\n');
    await causeway(['config', 'set-context', 'shop', '-s', server, '-m', 'nowhere', '--current']);
    expect((await causeway(['get', 'msvc', 'redis'])).err).toContain('nowhere');
    expect((await causeway(['get', 'msvc', 'redis', '-m', 'default'])).code).toBe(0);
  });

  it('takes the token of the context for exactly the server that is named, and of no other', async () => {
    const named = (address: string, ...args: readonly string[]): Promise<Ran> =>
      causeway(['-s', address, ...args, 'get', 'msvc', 'redis']);
    const elsewhere = await restFixture({ access: { open: false, operatorToken: token } });
    const other = `http://127.0.0.1:${await elsewhere.server.listen('127.0.0.1', 0)}`;
    await elsewhere.seed({ id: serviceId('redis') });
    await causeway(['config', 'set-context', 'wrong', '-s', server, '--token', 'wrong-token']);
    expect((await named(other)).err).toContain('no RoleBinding');
    expect((await named(server)).err).toContain('the bearer token is neither');
    await causeway(['config', 'set-context', 'right', '-s', `${other}/`, '--token', '-'], {}, token);
    expect((await named(other)).code).toBe(0);
    expect((await causeway(['get', 'msvc', 'redis'], { CAUSEWAY_SERVER: other })).code).toBe(0);
    expect((await named(other, '--token', 'wrong')).code).toBe(1);
    await causeway(['config', 'set-context', 'second', '-s', other, '--token-file', '/nonexistent']);
    expect(await named(other)).toMatchObject({
      code: 2,
      err: `the contexts right, second are for ${other}/: choose one with --context\n`,
    });
    expect((await named(other, '--context', 'right')).code).toBe(0);
    await causeway(['config', 'delete-context', 'right']);
    expect((await named(other)).err).toBe('context second: /nonexistent: cannot be read (ENOENT)\n');
    await elsewhere.close();
  });

  it.each([
    ['no JSON', '{"contexts": ', 0o600, /is not a JSON object; mend it/],
    [
      'an unknown field',
      '{"contexts": {"east": {"sever": "x"}}}',
      0o600,
      /contexts\.east\.sever: is not a known field/,
    ],
    [
      'a field of another type',
      '{"contexts": {"east": {"server": 1}}}',
      0o600,
      /contexts\.east\.server: must be a string/,
    ],
    [
      'a current context that is none',
      '{"currentContext": "x", "contexts": {}}',
      0o600,
      /^no context "x"; there is none/,
    ],
    ['tokens that others can read', '{"contexts": {"a": {"token": "t"}}}', 0o644, /others may read it: chmod 600/],
  ])('says what is wrong with %s', async (_, content, mode, message) => {
    const path = join(folder, 'contexts.json');
    writeFileSync(path, content);
    chmodSync(path, mode);
    const { code, err } = await causeway(['get', 'msvc'], { CAUSEWAY_CONTEXTS_FILE: path });
    expect([code, err.split('\n')[0]]).toEqual([2, expect.stringMatching(message)]);
  });

  it.each([
    ['no server', ['config', 'set-context', 'x']],
    ['an address that is none', ['config', 'set-context', 'x', '-s', 'ftp://x']],
    ['a socket without its whole path', ['config', 'set-context', 'x', '-s', 'unix:admin.sock']],
    ['a name that is none', ['config', 'set-context', 'a/b', '-s', 'http://x']],
    ['two sorts of tokens', ['config', 'set-context', 'x', '-s', 'http://x', '--token', 't', '--token-file', 'f']],
    ['a context that is none', ['config', 'use-context', 'nope']],
  ])('refuses %s', async (_, args) => {
    expect((await causeway(args)).code).toBe(2);
  });
});
