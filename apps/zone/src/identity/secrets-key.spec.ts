import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SealingKeys } from '@causeway/identity';
import { silentLogger } from '@causeway/runtime';
import { zoneConfig } from '../config';
import { openSecrets, secretsSource } from './secrets-key';

const EAST = { role: 'zone', zone: 'east', federated: false } as const;

function settings(more: Readonly<Record<string, string>>) {
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/x', CAUSEWAY_ZONE_NAME: 'east', ...more };
  return zoneConfig({ env, args: [] }).values;
}

describe('the key of secrets of a zone without CAUSEWAY_SECRETS_KEY', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-secrets-'));
    file = join(folder, 'sub', 'zone-east.secrets.key');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('lies beside the admin token, else in the state folder of the user', () => {
    const beside = secretsSource(settings({ CAUSEWAY_ADMIN_TOKEN_FILE: join(folder, 'sub', 'token') }), EAST);
    expect(beside).toEqual({ type: 'file', file });
    for (const off of ['', 'off']) {
      const found = secretsSource(settings({ CAUSEWAY_ADMIN_TOKEN_FILE: off }), EAST);
      expect(found).toMatchObject({
        file: expect.stringMatching(/\.local\/state\/causeway\/zone-east\/zone-east\.secrets\.key$/),
      });
    }
  });

  it('is made once, readable by its owner only, by however many replicas start together, and opens what it sealed', async () => {
    const source = { type: 'file', file } as const;
    const opened = await Promise.all(Array.from({ length: 8 }, () => openSecrets(source, silentLogger)));
    const sealed = opened[0]?.seal('secret', 'test');
    if (!sealed) throw new Error('nothing sealed');
    for (const keys of [...opened, await openSecrets(source, silentLogger)])
      expect(keys.open(sealed, 'test')).toEqual({ ok: true, text: 'secret' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'sub'))).toEqual(['zone-east.secrets.key']);
    // The content is what CAUSEWAY_SECRETS_KEY would be, so that it can be moved there.
    expect(SealingKeys.parse((await readFile(file, 'utf8')).trim()).ok).toBe(true);
  });

  it.each([
    ['something else', 'k:c2VjcmV0', 'key 1 must be id:key'],
    ['nothing', '', 'key 1 must be id:key'],
    ['too much', 'x'.repeat(8_193), 'it has more than 8192 characters'],
  ])(
    'with %s in its file the reason names the file and shows nothing of it; the file stays',
    async (_, text, reason) => {
      await mkdir(join(folder, 'sub'));
      await writeFile(file, text);
      const opened = openSecrets({ type: 'file', file }, silentLogger);
      await expect(opened).rejects.toThrow(`the key of secrets in ${file} cannot be used: ${reason}`);
      await expect(opened).rejects.not.toThrow('c2VjcmV0');
      expect(await readFile(file, 'utf8')).toBe(text);
    },
  );

  it('cannot be made below a file: the reason says what to set', async () => {
    await writeFile(join(folder, 'sub'), '');
    await expect(openSecrets({ type: 'file', file }, silentLogger)).rejects.toThrow(
      /cannot be used: .*set CAUSEWAY_SECRETS_KEY/,
    );
  });
});

describe('the settings of secrets', () => {
  const key = Buffer.alloc(32, 1).toString('base64');
  const exits = (more: Readonly<Record<string, string>>): string => {
    let said = '';
    const write = jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((said += String(text)), true));
    const exit = jest.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('exit');
    });
    try {
      expect(() => secretsSource(settings(more), EAST)).toThrow('exit');
    } finally {
      write.mockRestore();
      exit.mockRestore();
    }
    return said;
  };

  it.each([
    [
      'REST beyond loopback',
      { CAUSEWAY_BIND_ADDRESS: '0.0.0.0' },
      /CAUSEWAY_SECRETS_KEY: is required .* \(0\.0\.0\.0\)/,
    ],
    ['xDS beyond loopback', { CAUSEWAY_XDS_BIND_ADDRESS: '10.0.0.6' }, /is required .* \(10\.0\.0\.6\)/],
    ['DNS beyond loopback', { CAUSEWAY_DNS_BIND_ADDRESS: '127.0.0.1,10.0.0.5' }, /is required .* \(10\.0\.0\.5\)/],
    ['one that is none', { CAUSEWAY_SECRETS_KEY: 'k1:short' }, /CAUSEWAY_SECRETS_KEY: key 1 must be id:key/],
    ['an id twice', { CAUSEWAY_SECRETS_KEY: `a:${key},a:${key}` }, /key 2 has the id "a" of another one/],
    ['a short certificate', { CAUSEWAY_WORKLOAD_CERT_VALIDITY: '9s' }, /must be 10s to 8760h; got "9s"/],
  ])('%s ends the program with one line that shows no key', (_, more, line) => {
    const said = exits(more);
    expect(said).toMatch(line);
    expect(said.trim().split('\n')).toHaveLength(1);
    expect(said).not.toContain('short');
    expect(said).not.toContain(key);
  });

  it('beyond loopback with keys is in order', () => {
    const source = secretsSource(
      settings({ CAUSEWAY_BIND_ADDRESS: '::', CAUSEWAY_SECRETS_KEY: `a:${key},b:${key}` }),
      EAST,
    );
    expect(source.type).toBe('given');
  });
});
