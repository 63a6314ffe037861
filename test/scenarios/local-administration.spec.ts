import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runAsAdmin, runCauseway } from '../ctl/run-causeway';
import { GenericClient } from '../grpc/generic-client';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { ProcessPlane, type PlaneEnvironment } from '../support/process-plane';
import { until } from '../support/until';

const BINDING = {
  type: 'RoleBinding',
  name: 'stolen',
  spec: { role: 'admin', subjects: [{ kind: 'Group', name: 'causeway:anonymous' }] },
};

const RULES = [{ verbs: ['get'], kinds: ['Mesh'] }];

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A request to a port of this machine, or to a socket, as it is given: no header is added but Host. */
function ask(
  at: { readonly port: number } | { readonly socketPath: string },
  { method = 'GET', path, headers = {}, body }: Asked,
): Promise<{ readonly status: number; readonly said: string }> {
  const to = 'port' in at ? { host: '127.0.0.1', ...at } : at;
  const type: Readonly<Record<string, string>> = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request({ ...to, method, path, headers: { ...type, ...headers }, agent: false }, (answer) => {
      text(answer).then((said) => resolve({ status: answer.statusCode ?? 0, said }), reject);
    });
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const portOf = (url: string): number => Number(new URL(url).port);

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Forwards bytes, as an agent does with connections to a virtual IP. */
const bytesTo = (port: number): Server =>
  createServer((client) => {
    const server = connect(port, '127.0.0.1');
    client.pipe(server).pipe(client);
    client.on('error', () => server.destroy());
    server.on('error', () => client.destroy());
  });

/** Forwards requests under the server's own name and without a header of its own, as a careless proxy does. */
const requestsTo = (port: number): Server =>
  createHttpServer((asked, answer) => {
    const headers = { ...asked.headers, host: `127.0.0.1:${port}` };
    const on = request({ host: '127.0.0.1', port, method: asked.method, path: asked.url, headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 0, answered.headers);
      answered.pipe(answer);
    });
    asked.pipe(on);
  });

/** A zone that each test starts and ends, with an admin socket in a folder of its own. */
describe('local administration', () => {
  let database: TestDatabase;
  let folder: string;
  let socketPath: string;
  let zone: ProcessPlane | undefined;
  const servers: Server[] = [];

  const start = async (env: PlaneEnvironment = {}): Promise<ProcessPlane> => {
    const own = { DATABASE_URL: database.url, CAUSEWAY_ADMIN_SOCKET: socketPath, ...env };
    zone = await ProcessPlane.start('zone', 'east', own);
    await until('it listens at the socket', () => existsSync(socketPath));
    await until('it has its mesh', () => zone?.get('/meshes/default'));
    return zone;
  };
  const open = async (server: Server): Promise<number> => {
    servers.push(server);
    return listening(server);
  };

  beforeAll(async () => {
    database = await createMigratedDatabase();
    folder = mkdtempSync(join(tmpdir(), 'causeway-socket-'));
    socketPath = join(folder, 'run', 'admin.sock');
    await start();
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await zone?.stop();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  it('is not had by a connection over loopback, whatever it says and whoever made it', async () => {
    const { restUrl } = await running();
    const rest = portOf(restUrl);
    const ways = [rest, await open(bytesTo(rest)), await open(requestsTo(rest))];
    const names = [`127.0.0.1:${rest}`, `localhost:${rest}`, '127.0.0.1', `[::1]:${rest}`];
    const writes: readonly Asked[] = [
      { method: 'PUT', path: '/rolebindings/stolen', body: BINDING },
      { method: 'POST', path: '/_apply', body: [BINDING] },
      { method: 'POST', path: '/tokens/user', body: { name: 'anna', groups: ['causeway:admins'], validFor: '1h' } },
      { path: '/_audit' },
    ];
    for (const port of ways)
      for (const host of names)
        for (const write of writes) {
          const { status } = await ask({ port }, { ...write, headers: { host } });
          expect([write.path, host, status]).toEqual([write.path, host, 401]);
        }
    expect((await ask({ socketPath }, { path: '/rolebindings/stolen' })).status).toBe(404);
  });

  it('is not had by a call of gRPC over loopback', async () => {
    const port = portOf((await running()).grpcUrl);
    for (const at of [port, await open(bytesTo(port))]) {
      const client = await GenericClient.connect(`127.0.0.1:${at}`, 'v1');
      const apply = client.call('causeway.v1.ResourceService/Apply', [
        { documents: [{ json: JSON.stringify(BINDING) }] },
      ]);
      await expect(apply).rejects.toMatchObject({ code: 16 });
      const list = client.call('causeway.v1.ResourceService/List', [{ selection: { kind: 'RoleBinding' } }]);
      await expect(list).rejects.toMatchObject({ code: 16 });
      client.close();
    }
  });

  it('is had by the socket, in a folder of its own, and the audit log says so', async () => {
    expect([statSync(join(folder, 'run')).mode & 0o777, statSync(socketPath).mode & 0o777]).toEqual([0o700, 0o600]);
    const body = { type: 'Role', name: 'by-socket', spec: { rules: RULES } };
    expect((await ask({ socketPath }, { method: 'PUT', path: '/roles/by-socket', body })).status).toBe(201);
    expect(JSON.parse((await ask({ socketPath }, { path: '/who-am-i' })).said)).toMatchObject({
      name: 'local-socket',
      by: 'local-socket',
      groups: ['causeway:admins'],
    });
    const { said } = await ask({ socketPath }, { path: '/_audit?name=by-socket' });
    expect(JSON.parse(said).items[0]).toMatchObject({ user: 'local-socket', name: 'by-socket', result: 'done' });
    const headers = { authorization: 'Bearer wrong' };
    expect((await ask({ socketPath }, { path: '/who-am-i', headers })).status).toBe(401);
  });

  it('is what the command line tool uses for unix: and a path, also in a context', async () => {
    const env = { CAUSEWAY_CONTEXTS_FILE: join(folder, 'contexts.json'), CAUSEWAY_SERVER: undefined };
    const causeway = (...args: readonly string[]) => runCauseway('', args, '', env);
    const document = JSON.stringify({ type: 'Role', name: 'by-cli', spec: { rules: RULES } });
    const applied = await runCauseway(`unix:${socketPath}`, ['apply', '-f', '-'], document);
    expect([applied.code, applied.err]).toEqual([0, '']);
    expect((await causeway('--server', `unix://${socketPath}`, 'auth', 'whoami')).out).toContain(
      'By      its unix socket on this machine',
    );
    await causeway('config', 'set-context', 'local', '--server', `unix:${socketPath}`);
    expect((await causeway('get', 'roles')).out).toContain('by-cli');
    expect((await causeway('get', 'roles', '-w', '--server', 'unix:/nonexistent/admin.sock')).err).toContain(
      'cannot reach unix:/nonexistent/admin.sock',
    );
    expect((await causeway('--server', 'unix:admin.sock', 'get', 'roles')).code).toBe(2);
    expect((await causeway('doctor')).out).not.toMatch(/does not answer/);
  });

  it('keeps the socket for itself while it lives, removes it at its end, and replaces that of a dead process', async () => {
    await expect(ProcessPlane.start('zone', 'west', settings())).rejects.toThrow(
      `CAUSEWAY_ADMIN_SOCKET: another process serves ${socketPath}: each needs a path of its own`,
    );
    await (await running()).kill();
    expect(existsSync(socketPath)).toBe(true);
    await start();
    expect((await ask({ socketPath }, { path: '/who-am-i' })).status).toBe(200);
    await (await running()).stop();
    expect(existsSync(socketPath)).toBe(false);
  });

  it('tightens a folder of its own with a line in the log', async () => {
    chmodSync(join(folder, 'run'), 0o755);
    const { lastLines } = await start();
    expect(statSync(join(folder, 'run')).mode & 0o777).toBe(0o700);
    expect(lastLines.join('\n')).toMatch(/the folder of the admin socket was accessible to others/);
  });

  it.each<[string, () => PlaneEnvironment, RegExp]>([
    [
      'a setting of former versions',
      () => ({ CAUSEWAY_LOCALHOST_IS_ADMIN: 'true' }),
      /IS_ADMIN is gone: .*ADMIN_SOCKET/,
    ],
    [
      'a folder that others need',
      () => ({ CAUSEWAY_ADMIN_SOCKET: join(shared(), 'a.sock') }),
      /folder of the socket's own/,
    ],
  ])('ends the start with one line for %s', async (_, env, message) => {
    await expect(ProcessPlane.start('zone', 'west', { ...settings(), ...env() })).rejects.toThrow(message);
  });

  it('needs a token over TCP, as before', async () => {
    expect((await runAsAdmin((await running()).restUrl, ['get', 'roles'])).out).toContain('by-cli');
  });

  async function running(): Promise<ProcessPlane> {
    return zone ?? start();
  }

  function settings(): PlaneEnvironment {
    return { DATABASE_URL: database.url, CAUSEWAY_ADMIN_SOCKET: socketPath };
  }

  function shared(): string {
    const path = join(folder, 'shared');
    mkdirSync(join(path, 'of-others'), { recursive: true });
    chmodSync(path, 0o755);
    return path;
  }
});
