import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/lib/ports.mjs';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { TestAuthority } from '../support/test-authority';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

describe('the certificate of the xDS port, from files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-xds-certificate-'));
  const files = { chain: join(folder, 'chain.pem'), key: join(folder, 'key.pem') };
  let database: TestDatabase;
  let zone: ZoneProgram;
  let authority: TestAuthority;
  let port = 0;
  const write = async (): Promise<void> => {
    const { chain, key } = await authority.issue({ dns: 'localhost', ip: '127.0.0.1' });
    writeFileSync(files.chain, chain);
    writeFileSync(files.key, key, { mode: 0o600 });
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    authority = await TestAuthority.create('files');
    await write();
    port = await freePort();
    zone = await ZoneProgram.start({
      CAUSEWAY_DIAGNOSTICS_PORT: String(port),
      DATABASE_URL: database.url,
      CAUSEWAY_XDS_TLS_CERT_FILE: files.chain,
      CAUSEWAY_XDS_TLS_KEY_FILE: files.key,
    });
  });
  afterAll(async () => {
    await zone.stop();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  it('is warned of at the diagnostics port while the files hold none, until they hold one again', async () => {
    const ready = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/ready`)).text();
    await until('it is ready', async () => !(await ready()).includes('no leader'));
    expect(await ready()).not.toContain('xDS');
    writeFileSync(files.chain, 'no certificate');
    const found = await until('the fault', async () => /xDS: .*/.exec(await ready())?.[0]);
    expect(found).toContain('chain.pem');
    await write();
    await until('no fault', async () => !(await ready()).includes('xDS'));
  });
});
