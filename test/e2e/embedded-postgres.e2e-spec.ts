import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres, type EmbeddedPostgres } from '../../scripts/lib/embedded-postgres.mjs';
import { freePort } from '../../scripts/lib/ports.mjs';

/** The fixed password of clusters that an earlier version made: every account of the host could know it. */
const FIXED = 'causeway';

describe('the embedded Postgres', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-embedded-'));
  const passwordFile = join(folder, 'data', 'causeway.password');
  let postgres: EmbeddedPostgres;

  const start = async (): Promise<void> => {
    postgres = await startPostgres({ folder, port: await freePort(), durable: false });
  };
  const withPassword = (password: string): string => {
    const url = new URL(postgres.url('postgres'));
    url.password = password;
    return url.href;
  };

  beforeAll(async () => {
    chmodSync(folder, 0o755);
    await start();
  });
  afterAll(async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function query(url: string, statement: string): Promise<unknown[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end();
    }
  }

  it('has a password of its own, which only its account can read, and no other way in', async () => {
    expect(new URL(postgres.url('postgres')).password).toMatch(/^[0-9a-f]{48}$/);
    expect(statSync(passwordFile).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'data')).mode & 0o077).toBe(0);
    await expect(query(withPassword(FIXED), 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    const methods = await query(postgres.url('postgres'), 'SELECT DISTINCT auth_method FROM pg_hba_file_rules');
    expect(methods).toEqual([{ auth_method: 'scram-sha-256' }]);
    const [listens] = await query(postgres.url('postgres'), 'SHOW listen_addresses');
    expect(listens).toEqual({ listen_addresses: '127.0.0.1' });
  });

  it('keeps the password from start to start', async () => {
    const before = new URL(postgres.url('postgres')).password;
    await postgres.stop();
    await start();
    expect(new URL(postgres.url('postgres')).password).toBe(before);
    expect(await query(postgres.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('gives a cluster of an earlier version a password of its own before it serves, and keeps its data', async () => {
    await query(postgres.url('postgres'), 'CREATE TABLE kept AS SELECT 7 AS n');
    await query(postgres.url('postgres'), `ALTER ROLE causeway PASSWORD '${FIXED}'`);
    await postgres.stop();
    rmSync(passwordFile);
    await start();
    await expect(query(withPassword(FIXED), 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    expect(statSync(passwordFile).mode & 0o777).toBe(0o600);
    expect(await query(postgres.url('postgres'), 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });
});
