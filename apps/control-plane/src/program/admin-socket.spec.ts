import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings, silentLogger, type Logger } from '@causeway/runtime';
import { prepareAdminSocket } from './admin-socket';
import { removedSettings, sharedSettings } from '../settings/settings';

const isRoot = process.getuid?.() === 0;

describe('CAUSEWAY_ADMIN_SOCKET', () => {
  const { CAUSEWAY_ADMIN_SOCKET } = sharedSettings;
  const read = (value: string) => readSettings({ CAUSEWAY_ADMIN_SOCKET }, { env: { CAUSEWAY_ADMIN_SOCKET: value } });
  const longest = `/run/${'a'.repeat(102)}`;

  it.each([longest, 'off', '/run/causeway/admin.sock'])('may be %s', (value) => {
    expect(read(value)).toMatchObject({ ok: true, values: { CAUSEWAY_ADMIN_SOCKET: value } });
  });

  it.each([
    [`${longest}a`, 'must be a path of 107 bytes at most, has 108'],
    [`/run/${'ä'.repeat(52)}`, 'must be a path of 107 bytes at most, has 109'],
    ['admin.sock', 'must be an absolute path such as /run/causeway/admin.sock, or off'],
  ])('may not be %s', (value, reason) => {
    expect(read(value)).toEqual({ ok: false, problems: [`CAUSEWAY_ADMIN_SOCKET: ${reason}; got "${value}"`] });
  });

  it.each(['true', 'false'])('is named to whoever still has the setting that it replaces, with %s', (value) => {
    const env = { CAUSEWAY_LOCALHOST_IS_ADMIN: value };
    const result = readSettings({ CAUSEWAY_ADMIN_SOCKET }, { env }, { removed: removedSettings });
    const problem = expect.stringMatching(/^CAUSEWAY_LOCALHOST_IS_ADMIN is gone: .*CAUSEWAY_ADMIN_SOCKET.*token/);
    expect(result).toEqual({ ok: false, problems: [problem] });
  });
});

describe('prepareAdminSocket', () => {
  let root: string;
  let folder: string;
  let path: string;
  let logged: string[];
  const servers: Server[] = [];
  const entry = (message: string): void => void logged.push(message);
  const logger: Logger = { ...silentLogger, info: entry, warn: entry };
  const prepare = (CAUSEWAY_ADMIN_SOCKET: string | undefined = path): Promise<string | undefined> =>
    prepareAdminSocket({ CAUSEWAY_ADMIN_SOCKET }, logger);
  const modeOf = (file: string): number => statSync(file).mode & 0o777;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'causeway-admin-'));
    folder = join(root, 'run');
    path = join(folder, 'admin.sock');
    logged = [];
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
    rmSync(root, { recursive: true });
  });

  /** Serves a path; the file stays when `isLeft`, as a process leaves it that is killed. */
  async function serve(isLeft = false): Promise<void> {
    const server = createServer();
    const bound = isLeft ? `${path}.bound` : path;
    await new Promise<void>((resolve) => server.listen(bound, resolve));
    if (!isLeft) return void servers.push(server);
    // Closing unlinks the name that the socket was bound to, so the dead socket gets a second name.
    linkSync(bound, path);
    await new Promise((done) => server.close(done));
  }

  it('makes the folder for this account alone', async () => {
    await expect(prepare()).resolves.toBe(path);
    expect([modeOf(folder), logged]).toEqual([0o700, []]);
  });

  it.each([undefined, 'off'])('does nothing for %s', async (value) => {
    await expect(prepareAdminSocket({ CAUSEWAY_ADMIN_SOCKET: value }, logger)).resolves.toBeUndefined();
    expect(existsSync(folder)).toBe(false);
  });

  it('tightens a folder that others may enter, and says so', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'admin.token'), '');
    chmodSync(folder, 0o755);
    await prepare();
    expect(modeOf(folder)).toBe(0o700);
    expect(logged).toEqual(['the folder of the admin socket was accessible to others: its mode is changed']);
  });

  it.each<[string, () => void, RegExp]>([
    [
      'a folder with folders of others',
      () => {
        mkdirSync(join(folder, 'of-others'), { recursive: true });
        chmodSync(folder, 0o755);
      },
      /^CAUSEWAY_ADMIN_SOCKET: the folder \S+ is open to others \(mode 0755\) and has more in it/,
    ],
    [
      'a folder that all may write',
      () => {
        mkdirSync(folder);
        chmodSync(folder, 0o1777);
      },
      /\(mode 1777\)/,
    ],
    ['a file in the place of the folder', () => writeFileSync(folder, ''), /run is no folder$/],
    [
      'a file in the place of the socket',
      () => {
        mkdirSync(folder, { mode: 0o700 });
        writeFileSync(path, 'precious');
      },
      /admin\.sock exists and is no socket$/,
    ],
  ])('refuses %s', async (_, arrange, reason) => {
    arrange();
    await expect(prepare()).rejects.toThrow(reason);
  });

  (isRoot ? it : it.skip)('refuses the folder of another account', async () => {
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, 65_534, 65_534);
    await expect(prepare()).rejects.toThrow(/belongs to the account 65534, and must be this one's, 0$/);
  });

  it('leaves a socket alone at which a process listens', async () => {
    mkdirSync(folder, { mode: 0o700 });
    await serve();
    await expect(prepare()).rejects.toThrow(`another process serves ${path}: each needs a path of its own`);
    expect(existsSync(path)).toBe(true);
  });

  it('removes the socket of a dead process', async () => {
    mkdirSync(folder, { mode: 0o700 });
    await serve(true);
    expect(statSync(path).isSocket()).toBe(true);
    await prepare();
    expect([existsSync(path), logged]).toEqual([false, ['the admin socket of a process that has ended is replaced']]);
  });
});
