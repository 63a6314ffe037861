import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthentication } from '@causeway/access';
import { coreKinds } from '@causeway/kinds';
import { silentLogger, type LogFields } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestPlane } from '../../../../test/support/test-plane';
import { ensureAdminToken, stateFolder } from './admin-token';
import type { SharedSettings } from '../settings/settings';

const YEAR = 8_760 * 3_600_000;

describe('the first token of an administrator', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-admin-token-'));
  const file = join(folder, 'state', 'admin.token');
  const clock = new FakeClock(Date.parse('2026-03-01T12:00:00Z'));
  const cp = { role: 'global' } as const;
  const plane = new TestPlane(cp);
  const { store, index } = plane;
  const authentication = createAuthentication({ cp, store, index, registry: coreKinds, clock, logger: silentLogger });
  const warnings: (LogFields | undefined)[] = [];
  const logger = { ...silentLogger, warn: (_: string, fields?: LogFields) => void warnings.push(fields) };
  const write = (to = file): Promise<void> => {
    const settings = { CAUSEWAY_ADMIN_TOKEN_FILE: to } as SharedSettings;
    const context = { cp, clock, logger, settings, store, term: { epoch: 0, holder: '' } };
    return ensureAdminToken(context, authentication.tokens);
  };
  const who = async (path: string): Promise<string> => {
    const { user, groups } = await authentication.authenticator.authenticate(readFileSync(path, 'utf8').trim());
    return [user, ...groups].join(' ');
  };
  beforeAll(async () => {
    await index.reached(0);
    await authentication.tokens.ensureKey();
    await store.write({ changes: [], onRefusal: 'abort' });
  });
  afterAll(async () => {
    authentication.close();
    await plane.close();
    rmSync(folder, { recursive: true });
  });

  it('is in the state folder of the user; of one without a name or a home in the working folder, which is that of the unit', () => {
    const east = { role: 'zone', zone: 'east', federated: true } as const;
    const nameless = (): string => {
      throw new Error('A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)');
    };
    const settings = { CAUSEWAY_ADMIN_TOKEN_FILE: undefined };
    expect(stateFolder(east, settings, () => '/home/anna')).toBe('/home/anna/.local/state/causeway/zone-east');
    expect(stateFolder(east, settings, nameless)).toBe(process.cwd());
    expect(stateFolder(east, settings, () => '/')).toBe(process.cwd());
  });

  it('is not written where the setting is off', async () => {
    await write('off');
    expect(await authentication.tokens.list()).toEqual([]);
  });

  it('is not issued where its file cannot be written, and the log says so', async () => {
    writeFileSync(join(folder, 'a-file'), '');
    await write(join(folder, 'a-file', 'admin.token'));
    expect(await authentication.tokens.list()).toEqual([]);
    expect(warnings).toEqual([expect.objectContaining({ file: join(folder, 'a-file', 'admin.token') })]);
  });

  it('is in a file that only its owner reads', async () => {
    await write();
    expect(await who(file)).toBe('admin causeway:admins causeway:authenticated');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'state'))).toEqual(['admin.token']);
    expect(await authentication.tokens.list()).toMatchObject([
      { facts: { name: 'admin' }, issuedBy: 'first start', expiresAt: clock.now() + YEAR },
    ]);
  });

  it('is not written again while it is valid, also where its file is gone or it was revoked', async () => {
    const before = readFileSync(file, 'utf8');
    await write();
    await write(join(folder, 'elsewhere.token'));
    const [{ id = '' } = {}] = await authentication.tokens.list();
    await authentication.tokens.revoke(id);
    await write();
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(await authentication.tokens.list()).toHaveLength(1);
  });

  it('is replaced when it has expired', async () => {
    const before = readFileSync(file, 'utf8');
    clock.advance(YEAR + 1_000);
    await write();
    expect(readFileSync(file, 'utf8')).not.toBe(before);
    expect(await who(file)).toBe('admin causeway:admins causeway:authenticated');
  });

  it('goes beside a file that is there already', async () => {
    clock.advance(YEAR + 1_000);
    const taken = join(folder, 'taken.token');
    writeFileSync(taken, "another control plane's");
    await write(taken);
    expect(readFileSync(taken, 'utf8')).toBe("another control plane's");
    const [beside = ''] = readdirSync(folder).filter((name) => name.startsWith('taken.token.'));
    expect(await who(join(folder, beside))).toBe('admin causeway:admins causeway:authenticated');
  });
});
