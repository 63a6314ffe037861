import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optional, secret, text } from '@causeway/runtime';
import { readSecretFiles } from './secret-files';

const settings = {
  DATABASE_URL: secret(text()),
  CAUSEWAY_ZONE_TOKEN: optional(secret(text())),
  CAUSEWAY_ZONE_TOKEN_FILE: optional(text()),
  CAUSEWAY_MESH_NAME: text('default'),
};

describe('readSecretFiles', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'secrets-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = (content: string): string => {
    const path = join(folder, 'secret');
    writeFileSync(path, content);
    return path;
  };

  it.each([
    ['a value and the end of its line', ' postgres://a:b@c/d\n', 'postgres://a:b@c/d'],
    ['nothing', '\n', ''],
    ['the most that is allowed', 'x'.repeat(64 * 1024), 'x'.repeat(64 * 1024)],
  ])('takes from a file %s', (_what, content, value) => {
    const read = readSecretFiles(settings, { env: { DATABASE_URL_FILE: file(content), OTHER: '1' } });
    expect(read).toEqual({ sources: { env: { DATABASE_URL: value, OTHER: '1' } }, problems: [] });
  });

  it('leaves alone what is a setting of its own, what is no secret, and what is not given', () => {
    const env = { CAUSEWAY_ZONE_TOKEN_FILE: '/a', CAUSEWAY_MESH_NAME_FILE: '/b', DATABASE_URL_FILE: '' };
    const keys = { zoneTokenFile: '/a', meshNameFile: '/b', databaseUrlFile: '' };
    expect(readSecretFiles(settings, { env, file: keys })).toEqual({ sources: { env, file: keys }, problems: [] });
  });

  it('takes nothing from a file that may be missing and is not there, and its value once it is', () => {
    const env = { DATABASE_URL_FILE: `-${join(folder, 'secret')}` };
    expect(readSecretFiles(settings, { env })).toEqual({ sources: { env: { DATABASE_URL: '' } }, problems: [] });
    file('postgres://a\n');
    expect(readSecretFiles(settings, { env }).sources.env).toEqual({ DATABASE_URL: 'postgres://a' });
  });

  it('refuses a file that may be missing where it cannot be read', () => {
    const read = readSecretFiles(settings, { env: { DATABASE_URL_FILE: `-${folder}` } });
    expect(read.problems).toEqual([expect.stringMatching(/^DATABASE_URL_FILE: "-.+" cannot be read: EISDIR/)]);
  });

  it('refuses a value beside its file', () => {
    const env = { DATABASE_URL: 'postgres://a', DATABASE_URL_FILE: file('postgres://b') };
    expect(readSecretFiles(settings, { env }).problems).toEqual([
      'DATABASE_URL and DATABASE_URL_FILE: give one of them',
    ]);
  });

  it.each([
    ['is not there', '/none/such', /^DATABASE_URL_FILE: "\/none\/such" cannot be read: ENOENT/],
    ['never ends', '/dev/zero', /^DATABASE_URL_FILE: "\/dev\/zero" cannot be read: it is larger than 64 KiB$/],
  ])('says of a file that it %s', (_what, path, line) => {
    const read = readSecretFiles(settings, { env: { DATABASE_URL_FILE: path } });
    expect(read.problems).toEqual([expect.stringMatching(line)]);
  });

  describe('that the YAML file names', () => {
    const formatSource = (key: string): string => `zone.yaml line ${key === 'databaseUrlFile' ? 3 : 1}`;

    it('are taken, and a fault of the value is said to be at the line of the key', () => {
      const read = readSecretFiles(settings, {
        env: {},
        file: { databaseUrlFile: file('x\n'), meshName: 'm' },
        formatSource,
      });
      expect(read).toMatchObject({ sources: { file: { databaseUrl: 'x', meshName: 'm' } }, problems: [] });
      expect([read.sources.formatSource?.('databaseUrl'), read.sources.formatSource?.('meshName')]).toEqual([
        'zone.yaml line 3',
        'zone.yaml line 1',
      ]);
    });

    it('are below the environment', () => {
      const sources = { env: { DATABASE_URL: 'a' }, file: { databaseUrlFile: file('b') } };
      expect(readSecretFiles(settings, sources).sources.env).toEqual({ DATABASE_URL: 'a' });
    });

    it.each([
      [
        'a value beside its file',
        () => ({ databaseUrl: 'a', databaseUrlFile: file('b') }),
        'zone.yaml line 1: databaseUrl and databaseUrlFile: give one of them',
      ],
      [
        'a path that is none',
        () => ({ databaseUrlFile: ['a'] }),
        'zone.yaml line 3: databaseUrlFile: must be the path of a file',
      ],
      [
        'a file that is not there',
        () => ({ databaseUrlFile: '/none/such' }),
        expect.stringMatching(/^zone\.yaml line 3: databaseUrlFile: "\/none\/such" cannot be read: ENOENT/),
      ],
    ])('are refused where there is %s', (_what, keys, line) => {
      expect(readSecretFiles(settings, { env: {}, file: keys(), formatSource }).problems).toEqual([line]);
    });
  });
});
