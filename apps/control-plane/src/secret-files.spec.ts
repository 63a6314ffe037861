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
    const read = readSecretFiles(settings, { DATABASE_URL_FILE: file(content), OTHER: '1' });
    expect(read).toEqual({ env: { DATABASE_URL: value, OTHER: '1' }, problems: [] });
  });

  it('leaves alone what is a setting of its own, what is no secret, and what is not given', () => {
    const env = { CAUSEWAY_ZONE_TOKEN_FILE: '/a', CAUSEWAY_MESH_NAME_FILE: '/b', DATABASE_URL_FILE: '' };
    expect(readSecretFiles(settings, env)).toEqual({ env, problems: [] });
  });

  it('refuses a value beside its file', () => {
    const env = { DATABASE_URL: 'postgres://a', DATABASE_URL_FILE: file('postgres://b') };
    expect(readSecretFiles(settings, env).problems).toEqual(['DATABASE_URL and DATABASE_URL_FILE: give one of them']);
  });

  it.each([
    ['is not there', '/none/such', /^DATABASE_URL_FILE: "\/none\/such" cannot be read: ENOENT/],
    ['never ends', '/dev/zero', /^DATABASE_URL_FILE: "\/dev\/zero" cannot be read: it is larger than 64 KiB$/],
  ])('says of a file that it %s', (_what, path, line) => {
    expect(readSecretFiles(settings, { DATABASE_URL_FILE: path }).problems).toEqual([expect.stringMatching(line)]);
  });
});
