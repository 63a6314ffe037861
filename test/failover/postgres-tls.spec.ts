import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger, type LogFields } from '@causeway/runtime';
import { PostgresBackend } from '@causeway/store-postgres';
import { Client } from 'pg';
import type { EmbeddedPostgres } from '../../scripts/lib/embedded-postgres.mjs';
import { ProcessPlane } from '../support/process-plane';
import { TestAuthority } from '../support/test-authority';
import { until } from '../support/until';

/** docs/reference/settings.md, Postgres over TLS: what each sslmode verifies, at a server whose certificate names localhost only. */
describe('Postgres over TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-postgres-tls-'));
  const [root, other] = [join(folder, 'root.pem'), join(folder, 'other.pem')];
  let server: EmbeddedPostgres;
  let direct: Client;

  const urlTo = (host: string, parameters: string): string => {
    const url = new URL(server.url('postgres'));
    return `postgres://${url.username}:${url.password}@${host.replaceAll('PORT', String(server.port))}/postgres?${parameters}`;
  };
  const connected = async (url: string): Promise<string> => {
    const backend = new PostgresBackend({ url, startTimeout: 1 });
    try {
      await backend.connect();
      return 'connected';
    } catch (error) {
      return String(error);
    } finally {
      await backend.close();
    }
  };

  beforeAll(async () => {
    chmodSync(folder, 0o755);
    const { startPostgres } = await import('../../scripts/lib/embedded-postgres.mjs');
    const { freePort } = await import('../../scripts/lib/ports.mjs');
    server = await startPostgres({ folder: join(folder, 'server'), port: await freePort(), durable: false });
    const [ours, theirs] = await Promise.all([TestAuthority.create('ours'), TestAuthority.create('theirs')]);
    writeFileSync(root, ours.certificate);
    writeFileSync(other, theirs.certificate);
    const { chain, key } = await ours.issue({ dns: 'localhost' });
    const files = [join(server.home, 'server.pem'), join(server.home, 'server.key')] as const;
    writeFileSync(files[0], chain);
    writeFileSync(files[1], key, { mode: 0o600 });
    const { uid, gid } = statSync(join(server.home, 'data'));
    for (const file of files) chownSync(file, uid, gid);
    direct = new Client({ connectionString: server.url('postgres') });
    await direct.connect();
    for (const [name, value] of [
      ['ssl_cert_file', files[0]],
      ['ssl_key_file', files[1]],
      ['ssl', 'on'],
    ] as const)
      await direct.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    await direct.query('SELECT pg_reload_conf()');
    await until(
      'it takes TLS',
      async () => (await connected(urlTo('localhost:PORT', 'sslmode=require'))) === 'connected',
    );
  });
  afterAll(async () => {
    await direct.end();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each<[string, string, string, RegExp]>([
    ['require verifies nothing', '127.0.0.1:PORT', 'sslmode=require', /^connected$/],
    [
      'require with root certificates verifies who signed',
      '127.0.0.1:PORT',
      'sslmode=require&sslrootcert=OTHER',
      /self-signed|unable to/,
    ],
    [
      'verify-ca verifies who signed, not the name',
      '127.0.0.1:PORT',
      'sslmode=verify-ca&sslrootcert=ROOT',
      /^connected$/,
    ],
    [
      'verify-ca refuses another authority',
      'localhost:PORT',
      'sslmode=verify-ca&sslrootcert=OTHER',
      /self-signed|unable to/,
    ],
    ['verify-full verifies both', 'localhost:PORT', 'sslmode=verify-full&sslrootcert=ROOT', /^connected$/],
    [
      'verify-full refuses another name',
      '127.0.0.1:PORT',
      'sslmode=verify-full&sslrootcert=ROOT',
      /IP: 127\.0\.0\.1 is not in the cert/,
    ],
    [
      'verify-full refuses another authority',
      'localhost:PORT',
      'sslmode=verify-full&sslrootcert=OTHER',
      /self-signed|unable to/,
    ],
    [
      'verify-full without a file takes public ones',
      'localhost:PORT',
      'sslmode=verify-full&sslrootcert=system',
      /self-signed|unable to/,
    ],
    ['root certificates alone are not ignored', '127.0.0.1:PORT', 'sslrootcert=OTHER', /self-signed|unable to/],
    ['disable is without TLS', '127.0.0.1:PORT', 'sslmode=disable', /^connected$/],
  ])('%s', async (_, host, parameters, answer) => {
    const files = parameters.replace('ROOT', root).replace('OTHER', other);
    expect(await connected(urlTo(host, files))).toMatch(answer);
  });

  it('says that nothing is verified', async () => {
    const warned: (LogFields | undefined)[] = [];
    const logger = { ...silentLogger, warn: (_: string, fields?: LogFields) => void warned.push(fields) };
    const backend = new PostgresBackend({ url: urlTo('127.0.0.1:PORT', 'sslmode=require'), logger });
    await backend.connect();
    await backend.close();
    expect(warned).toContainEqual({ setting: 'DATABASE_URL', sslmode: 'require' });
  });

  it.each([
    ['localhost:PORT', 'require'],
    ['localhost:PORT,127.0.0.1:PORT', 'verify-ca'],
  ])(
    'every connection of a control plane at %s with %s is encrypted, and its log is JSON alone',
    async (host, mode) => {
      const DATABASE_URL = urlTo(host, `sslmode=${mode}&sslrootcert=${root}`);
      const zone = await ProcessPlane.start('zone', 'east', { DATABASE_URL });
      try {
        const rows = async (): Promise<readonly { name: string; ssl: boolean }[]> => {
          const found = await direct.query<{ name: string; ssl: boolean }>(
            `SELECT application_name AS name, ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
              WHERE application_name LIKE 'causeway%' AND application_name <> 'causeway primary'`,
          );
          return found.rows;
        };
        await until(
          'it leads',
          async () => (await zone.metric('causeway_leader_lease_in_worker').catch(() => 0)) === 1,
        );
        const names = new Set((await rows()).map(({ name }) => name));
        expect([...names].sort()).toEqual(expect.arrayContaining(['causeway', 'causeway lease', 'causeway listener']));
        expect((await rows()).filter(({ ssl }) => !ssl)).toEqual([]);
        for (const line of zone.firstLines) expect(() => JSON.parse(line) as unknown).not.toThrow();
      } finally {
        await zone.stop();
      }
    },
  );
});
