import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { ProcessPlane, type PlaneEnvironment } from '../support/process-plane';
import { until } from '../support/until';
import { runCauseway, type Ran } from './run-causeway';

const ROOT = resolve(__dirname, '..', '..');
/** Settings of a process of a test, in place of those that `init` writes into files. */
const NONE = { CAUSEWAY_OPERATOR_TOKEN: '', CAUSEWAY_SECRETS_KEY: '' };

function modeOf(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

function settingsIn(file: string): PlaneEnvironment {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** The content and the time of every file in a folder. */
function contentOf(folder: string): unknown {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((path) => [path, statSync(join(folder, path)).mtimeMs]);
}

describe('a global and its zones are made by causeway global init, zones invite and zone init', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-init-'));
  const at = (...path: readonly string[]): string => join(folder, ...path);
  const databases: TestDatabase[] = [];
  let global: ProcessPlane;
  let globalDone: Ran;

  const urlFile = async (name: string): Promise<string> => {
    const database = await createMigratedDatabase();
    databases.push(database);
    writeFileSync(at(name), `${database.url}\n`);
    return at(name);
  };
  const run = (args: readonly string[], stdin = ''): Promise<Ran> => runCauseway('', args, stdin);
  const asAdmin = (...args: readonly string[]): Promise<Ran> =>
    runCauseway(global.restUrl, ['--ca-file', at('rest-ca.pem'), ...args], '', {
      CAUSEWAY_TOKEN: readFileSync(at('g', 'global.secrets', 'operator-token'), 'utf8').trim(),
    });
  const kds = (): string => `grpcs://${global.kdsAddress}`;
  const invite = async (zone: string): Promise<Ran> => asAdmin('zones', 'invite', zone, '--kds', kds());
  const initZone = (name: string, ...args: readonly string[]): Promise<Ran> =>
    run(['zone', 'init', '--folder', at(name), '--set', 'CAUSEWAY_BIND_ADDRESS=127.0.0.1', ...args]);
  /** The parts of an invite, and the line of them with others. */
  const reworded = (line: string, other: object): string => {
    const parts = JSON.parse(Buffer.from(line.trim().split('.')[1] ?? '', 'base64url').toString()) as object;
    return `causeway-invite-1.${Buffer.from(JSON.stringify({ ...parts, ...other })).toString('base64url')}`;
  };

  beforeAll(async () => {
    const here = ['CAUSEWAY_REST_TLS=on', 'CAUSEWAY_BIND_ADDRESS=127.0.0.1', 'CAUSEWAY_KDS_BIND_ADDRESS=127.0.0.1'];
    const tls = here.flatMap((setting) => ['--set', setting]);
    const database = ['--database-url-file', await urlFile('global-url')];
    globalDone = await run(['global', 'init', '--folder', at('g'), '--name', 'cp.example', ...tls, ...database]);
    global = await ProcessPlane.start('global', 'global', { ...NONE, ...settingsIn(at('g', 'global.env')) });
    const fetched = `require('https').get('${global.restUrl}/rest/ca',{rejectUnauthorized:false},r=>r.pipe(process.stdout))`;
    writeFileSync(at('rest-ca.pem'), execFileSync(process.execPath, ['-e', fetched]));
  });
  afterAll(async () => {
    await global?.stop();
    for (const database of databases) await database.drop();
    rmSync(folder, { recursive: true });
  });

  it('the folder of a global has its secrets for its owner, and a second run changes nothing and says so', async () => {
    expect(globalDone).toMatchObject({ code: 0, err: '' });
    expect(readdirSync(at('g', 'global.secrets')).sort()).toEqual(['database-url', 'operator-token', 'secrets-key']);
    for (const name of readdirSync(at('g', 'global.secrets')))
      expect(modeOf(at('g', 'global.secrets', name))).toBe('600');
    expect(modeOf(at('g', 'global.secrets'))).toBe('700');
    expect(settingsIn(at('g', 'global.env'))).toMatchObject({ CAUSEWAY_REST_TLS_NAMES: 'cp.example' });
    const before = contentOf(at('g'));
    const again = await run(['global', 'init', '--folder', at('g')]);
    expect(again).toEqual({
      code: 0,
      out: `nothing is to be done: ${at('g')} has the files of a global, which stay as they are\n`,
      err: '',
    });
    expect(contentOf(at('g'))).toEqual(before);
  });

  it('units, users and modes of secrets go where no package has installed them', async () => {
    const units = at('etc', 'systemd', 'system');
    const done = await run(['global', 'init', '--folder', at('u'), '--units', units]);
    const written = ['systemd/system/causeway-global.service', 'sysusers.d/causeway.conf', 'tmpfiles.d/causeway.conf'];
    for (const file of written) {
      const source = file.replace('systemd/system', 'systemd');
      expect(readFileSync(at('etc', file), 'utf8')).toBe(readFileSync(join(ROOT, 'deploy', source), 'utf8'));
    }
    expect(done.out).toContain(`now run:
  su postgres -c psql <${at('u', 'global.secrets', 'database.sql')}
  systemd-sysusers causeway.conf && systemd-tmpfiles --create causeway.conf && systemctl daemon-reload
`);
  });

  it('an invite gives a zone its token and its trust, once, and its control plane joins by what was written', async () => {
    const { code, out, err } = await invite('east');
    expect([code, out.trim().split('\n').length]).toEqual([0, 1]);
    expect(err).toMatch(
      /^invite [\w-]+ of zone east, for one use, valid until 20.*\nit asks https:.* SHA-256 ([0-9A-F]{2}:){31}/,
    );
    const line = out.trim();
    const made = await initZone('east', '--invite', line, '--database-url-file', await urlFile('east-url'));
    expect(made).toMatchObject({ code: 0, err: '' });
    const secrets = ['database-url', 'operator-token', 'secrets-key', 'zone-token'];
    expect(readdirSync(at('east', 'zone.secrets')).sort()).toEqual(secrets);

    const second = await initZone('other', '--invite', line);
    expect(second).toMatchObject({ code: 1, out: '' });
    expect(second.err).toMatch(
      /the zone invite [\w-]+ was used at 20.*make another at the global: causeway zones invite/,
    );
    const same = await initZone('east', '--invite', line);
    expect(same.out).toMatch(/^nothing is to be done: /);
    expect((await asAdmin('zones', 'invites')).out).toMatch(/east +[\w-]+ +used or revoked /);
    const { out: audit } = await asAdmin('audit', '-o', 'json');
    expect(audit).toContain('issue an invite of a zone');
    expect(audit).toContain('use an invite of a zone');

    const zone = await ProcessPlane.start('zone', 'east', { ...NONE, ...settingsIn(at('east', 'zone.env')) });
    try {
      const token = readFileSync(at('east', 'zone.secrets', 'operator-token'), 'utf8').trim();
      await until('the zone has what the global has', async () => {
        const { out: meshes } = await runCauseway(zone.restUrl, ['get', 'meshes'], '', { CAUSEWAY_TOKEN: token });
        return /default/.test(meshes);
      });
    } finally {
      await zone.stop();
    }
  });

  it('a global whose authority is another gets nothing, and the invite stays good', async () => {
    const line = (await invite('west')).out;
    const forged = await initZone('west', '--invite', reworded(line, { sha256: 'ab'.repeat(32) }));
    expect(forged).toMatchObject({ code: 1, out: '' });
    expect(forged.err).toContain('is not the global that the invite is of');
    const plain = await initZone('west', '--invite', reworded(line, { server: 'http://192.0.2.1:5681' }));
    expect(plain).toMatchObject({ code: 2, err: expect.stringContaining('without TLS') as string });
    expect(await initZone('west', 'east', '--invite', line)).toMatchObject({ code: 2 });
    expect((await initZone('west', '--invite', line)).code).toBe(0);
    const sql = readFileSync(at('west', 'zone.secrets', 'database.sql'), 'utf8');
    const [, password = 'none'] = /PASSWORD '(\w+)'/.exec(sql) ?? [];
    expect(readFileSync(at('west', 'zone.secrets', 'database-url'), 'utf8')).toBe(
      `postgres://causeway_west:${password}@127.0.0.1:5432/causeway_west\n`,
    );
  });

  it.each([
    ['no invite', 'a.b.c', 2, 'must be the line that'],
    ['a later form', 'causeway-invite-2.e30', 2, 'is of another version'],
    ['half of one', 'causeway-invite-1.e30', 2, 'is damaged: copy the whole line'],
  ])('%s is refused before anything is written', async (_, line, code, reason) => {
    expect(await initZone('none', '--invite', line)).toMatchObject({
      code,
      err: expect.stringContaining(reason) as string,
    });
    expect(readdirSync(folder)).not.toContain('none');
  });

  it.each([
    ['a zone with SQL', { zone: "x'; ALTER ROLE postgres PASSWORD 'y" }, /the invite is damaged/],
    ['a zone with SQL and no spaces', { zone: "x';DROP" }, /zone: must be an RFC 1123 subdomain/],
    ['a second setting', { global: 'grpcs://h:1\nCAUSEWAY_ADMIN_SOCKET=/x' }, /the invite is damaged/],
  ])('a forged invite with %s is refused before anything is asked or written', async (_, part, reason) => {
    const line = { zone: 'east', server: 'https://127.0.0.1:1', global: 'grpcs://127.0.0.1:2', token: 'x', ...part };
    const forged = `causeway-invite-1.${Buffer.from(JSON.stringify(line)).toString('base64url')}`;
    const refused = await initZone('forged', '--invite', forged);
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toMatch(reason);
    expect(readdirSync(folder)).not.toContain('forged');
  });

  it('an invite that was revoked is refused', async () => {
    const { out, err } = await invite('north');
    const [, id = ''] = /^invite ([\w-]+)/.exec(err) ?? [];
    expect(await asAdmin('zones', 'invites', '--revoke', id)).toMatchObject({ code: 0, out: `invite ${id} revoked\n` });
    expect((await initZone('north', '--invite', out)).err).toContain('was used or revoked; make another');
  });

  it('two replicas on one database give the token to one of all that use an invite at once', async () => {
    const second = await ProcessPlane.start('global', 'second', { ...NONE, ...settingsIn(at('g', 'global.env')) });
    try {
      const line = (await invite('twice')).out;
      const lines = [line, reworded(line, { server: second.restUrl })];
      const ended = await Promise.all(
        [0, 1, 2, 3].map((i) => initZone(`twice-${i}`, '--invite', lines[i % lines.length] ?? '')),
      );
      expect(ended.filter(({ code }) => code === 0)).toHaveLength(1);
      const refused = ended.filter(({ code }) => code !== 0).map(({ code, err }) => [code, /was used/.test(err)]);
      expect(refused).toEqual(Array.from({ length: 3 }, () => [1, true]));
      const { out: tokens } = await asAdmin('tokens', 'list', '--zones', '-o', 'json');
      expect(tokens.match(/"zone": "twice"/g)).toHaveLength(1);
    } finally {
      await second.stop();
    }
  });

  it('an archive is for its owner, has what one machine needs, and no secret that is made where it is used', async () => {
    const archive = at('south.tar');
    const order = ['zone', 'init', 'south', '--folder', at('south'), '--archive', archive, '--kds', kds()];
    expect(await asAdmin(...order)).toMatchObject({ code: 0, err: '' });
    expect(modeOf(archive)).toBe('600');
    const listed = execFileSync('tar', ['-tvf', archive], { encoding: 'utf8' }).trim().split('\n');
    expect(listed.map((entry) => entry.split(/ +/).filter((_, i, { length }) => i === 0 || i === length - 1))).toEqual([
      ['-rw-r--r--', 'zone.env'],
      ['-rw-------', 'zone.secrets/database-url'],
      ['-rw-------', 'zone.secrets/database.sql'],
      ['-rw-------', 'zone.secrets/zone-token'],
      ['-rw-r--r--', 'global-ca.pem'],
    ]);
    const before = readFileSync(archive);
    expect((await asAdmin(...order)).out).toContain(`nothing is to be done: ${archive} is there`);
    expect(readFileSync(archive).equals(before)).toBe(true);

    expect(await run(['zone', 'init', '--from', archive, '--folder', at('south')])).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(at('south', 'zone.env'), 'utf8')).toContain('CAUSEWAY_ZONE_NAME=south\n');
    expect(readdirSync(at('south', 'zone.secrets'))).toEqual(expect.arrayContaining(['operator-token', 'secrets-key']));
    const again = await run(['zone', 'init', '--from', archive, '--folder', at('south')]);
    expect(again.out).toContain('nothing is to be done');
    const wrong = await run(['global', 'init', '--from', archive, '--folder', at('wrong')]);
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringContaining('no file of the folder of a global') as string,
    });
    writeFileSync(archive, before.subarray(0, 700));
    expect((await run(['zone', 'init', '--from', archive, '--folder', at('wrong')])).err).toContain('or damaged');
  });
});
