import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import { formatJoinBundle } from '@causeway/identity';
import { freePort } from '../../scripts/lib/ports.mjs';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import type { ParsedJson } from '../rest/rest-fixture';
import { AgentProcess } from '../support/agent-process';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

/** Longer than the whole file takes: a lease is taken over here while it is valid. */
const LEASE = '10m';

describe('the lease of an agent whose bundle somebody else has too', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cwa-'));
  let database: TestDatabase;
  let zone: ZoneProgram;
  let owner: AgentProcess;
  let thief: AgentProcess | undefined;
  let port = 0;

  const config = (address: string): object => ({
    bundle: join(folder, 'bundle'),
    plane: 'builtin',
    drainTime: '1s',
    dataplanes: [{ name: 'web-1', address, services: [{ name: 'web', port, servicePort: port + 1 }] }],
  });
  const lease = async (agent: AgentProcess): Promise<{ readonly type?: string; readonly reason?: string }> =>
    (await agent.status())?.proxies[0]?.lease ?? {};
  const is = (agent: AgentProcess, type: string): Promise<unknown> =>
    until(`the lease is ${type}`, async () => (await lease(agent)).type === type);
  const get = async (): Promise<ParsedJson> => {
    const answer = await adminFetch(`${zone.restUrl}/meshes/default/dataplanes/web-1`);
    return answer.ok ? answer.json() : undefined;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    const xdsPort = await freePort();
    port = await freePort();
    zone = await ZoneProgram.start({
      DATABASE_URL: database.url,
      CAUSEWAY_AGENT_LEASE: LEASE,
      CAUSEWAY_XDS_TLS: 'on',
      CAUSEWAY_XDS_PORT: String(xdsPort),
    });
    await zone.untilLeading();
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.ensureKey();
    const { token } = await tokens.issue({ mesh: 'default', name: 'web-1', services: ['web'], validFor: '1h' });
    const [controlPlanes, authority] = [[`127.0.0.1:${xdsPort}`], zone.authority ?? ''];
    const bundle = formatJoinBundle({ controlPlanes, zone: 'east', mesh: 'default', token, authority });
    writeFileSync(join(folder, 'bundle'), bundle, { mode: 0o600 });
    owner = new AgentProcess(join(folder, 'owner'), config('127.0.0.1'));
    await owner.start();
    await is(owner, 'held');
  });
  afterAll(async () => {
    await thief?.end('SIGKILL');
    await owner?.end();
    await zone?.stop();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is its own by a secret that only its user can read', () => {
    const file = join(owner.state, 'lease-secret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}\n$/);
    expect(owner.log).not.toContain(readFileSync(file, 'utf8').trim());
  });

  it('is taken back at once by the agent that was killed', async () => {
    const { creationTime } = await get();
    await owner.end('SIGKILL');
    await owner.start();
    await is(owner, 'held');
    expect((await get()).creationTime).toBe(creationTime);
  });

  it('is neither taken nor withdrawn by another folder with the same bundle and instance', async () => {
    const { creationTime, labels } = await get();
    const other = new AgentProcess(join(folder, 'thief'), config('127.0.0.2'));
    thief = other;
    // The instance is in a label.
    mkdirSync(other.state, { mode: 0o700 });
    writeFileSync(join(other.state, 'instance'), `${labels['causeway.io/leased-by']}\n`, { mode: 0o600 });
    await other.start();
    await is(other, 'other');
    expect((await lease(other)).reason).toMatch(/^another agent, of machine \S+ at 127\.0\.0\.1, .* another secret/);
    expect((await other.command('status')).text).toMatch(/lease +other: another agent, of machine/);
    // The owner is killed, so that it does not renew its lease.
    await owner.end('SIGKILL');
    await other.end();
    expect(await get()).toMatchObject({ creationTime, spec: { networking: { address: '127.0.0.1' } } });
    await owner.start();
    await is(owner, 'held');
    expect((await get()).creationTime).toBe(creationTime);
  });

  it('goes over to the folder that has the secret, as where a disk was put into another place', async () => {
    await owner.end('SIGKILL');
    const moved = new AgentProcess(join(folder, 'moved'), config('127.0.0.1'));
    cpSync(owner.state, moved.state, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    owner = moved;
    await moved.start();
    await is(moved, 'held');
    await moved.end();
    await until('it is withdrawn', async () => (await get()) === undefined);
  });
});
