import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import type { AgentStatus } from '@causeway/agent/testing';
import { formatJoinBundle } from '@causeway/identity';
import { freePort } from '../../scripts/lib/ports.mjs';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import { AgentProcess } from '../support/agent-process';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

const JSON_BODY = { 'content-type': 'application/json' };

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('an agent whose builtin plane has several processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cwa-'));
  let database: TestDatabase;
  let zone: ZoneProgram;
  let service: Server;
  let agent: AgentProcess;
  const ports = { xds: 0, service: 0, inbound: 0, outbound: 0, metrics: 0 };

  const config = (processes: number): object => ({
    bundle: join(folder, 'web-1.bundle'),
    plane: 'builtin',
    builtin: { processes },
    drainTime: '2s',
    metrics: { port: ports.metrics },
    dataplanes: [
      {
        name: 'web-1',
        address: '127.0.0.1',
        services: [{ name: 'web', port: ports.inbound, servicePort: ports.service, protocol: 'http' }],
        outbounds: [{ port: ports.outbound, backend: { name: 'web', port: ports.inbound } }],
      },
    ],
  });
  /** Returns the answer of the service through both sides of the proxy on a new connection; empty if there is none. */
  const ask = (): Promise<string> =>
    fetch(`http://127.0.0.1:${ports.outbound}/`, { headers: { connection: 'close' } })
      .then((answer) => answer.text())
      .catch(() => '');
  const plane = async (): Promise<AgentStatus['proxies'][number]['plane'] | undefined> =>
    (await agent.status())?.proxies[0]?.plane;
  const pids = async (): Promise<readonly number[]> => (await plane())?.processes?.pids ?? [];
  const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text();

  beforeAll(async () => {
    database = await createTestDatabase();
    service = createServer((_, answer) => answer.end('web answers'));
    for (const name of ['xds', 'service', 'inbound', 'outbound', 'metrics'] as const) ports[name] = await freePort();
    await new Promise<void>((resolve) => service.listen(ports.service, '127.0.0.1', resolve));
    const xds = { CAUSEWAY_XDS_TLS: 'on', CAUSEWAY_XDS_PORT: String(ports.xds) };
    zone = await ZoneProgram.start({ DATABASE_URL: database.url, ...xds });
    await zone.untilLeading();
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.ensureKey();
    const { token } = await tokens.issue({ mesh: 'default', name: 'web-1', services: ['web'], validFor: '1h' });
    const [controlPlanes, authority] = [[`127.0.0.1:${ports.xds}`], zone.authority ?? ''];
    const bundle = formatJoinBundle({ controlPlanes, zone: 'east', mesh: 'default', token, authority });
    writeFileSync(join(folder, 'web-1.bundle'), bundle, { mode: 0o600 });
    agent = new AgentProcess(join(folder, 'a'), config(2));
    await agent.start();
  });
  afterAll(async () => {
    await agent?.end();
    await zone?.stop();
    await database?.drop();
    service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('serves in all of them; one that is killed is started again, and the others go on', async () => {
    await until('the service', async () => (await ask()) === 'web answers');
    const [victim = 0, other] = await pids();
    expect((await agent.command('status')).text).toMatch(new RegExp(`processes +2 \\(pid ${victim}, ${other}\\)`));
    process.kill(victim, 'SIGKILL');
    await until('another one', async () => {
      const now = await pids();
      return now.length === 2 && !now.includes(victim) && now.includes(other ?? 0);
    });
    await until('all answer', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, ask));
      return answers.every((answer) => answer === 'web answers');
    });
    expect((await plane())?.processes?.restarts).toBe(1);
    expect((await agent.command('status')).text).toContain('started again once');
  });

  it('tells what its plane cannot do: in its status, its metrics, and at the Dataplane', async () => {
    const what = 'x-forwarded-client-cert is passed on as the caller sends it';
    await until('its status', async () => (await plane())?.unobeyed?.parts.some((part) => part.what === what));
    expect((await agent.command('status')).text).toMatch(new RegExp(`not obeyed +\\S+: ${what}`));
    expect(await metrics()).toMatch(/^causeway_agent_plane_unobeyed\{proxy="default.web-1"\} 0$/m);
    const condition = await until('a condition', async () => {
      const answer = await adminFetch(`${zone.restUrl}/meshes/default/dataplanes/web-1`);
      const { status } = (await answer.json()) as { status?: { conditions?: readonly { readonly type: string }[] } };
      return status?.conditions?.find(({ type }) => type === 'Obeyed');
    });
    expect(condition).toMatchObject({ status: 'False', reason: 'PlaneCannot', message: expect.stringContaining(what) as string }); // prettier-ignore
  });

  it('keeps its instance NotReady while the mesh relies on x-forwarded-client-cert', async () => {
    const put = async (path: string, document: object): Promise<void> => {
      const body = JSON.stringify(document);
      const answer = await adminFetch(`${zone.restUrl}${path}`, { method: 'PUT', body, headers: JSON_BODY });
      expect([200, 201]).toContain(answer.status);
    };
    const relying = (clientCertHeader: string) =>
      put('/meshparameters/callers', { type: 'MeshParameters', name: 'callers', spec: { clientCertHeader } });
    const isReady = async (): Promise<boolean> => {
      const answer = await adminFetch(`${zone.restUrl}/meshes/default/dataplanes/web-1`);
      const found = (await answer.json()) as { spec: { networking: { inbound: readonly { state?: string }[] } } };
      return found.spec.networking.inbound[0]?.state !== 'NotReady';
    };
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'callers' };
    await relying('Required');
    await put('/meshes/default', { type: 'Mesh', name: 'default', spec: { parametersRef } });
    await until('it is NotReady', async () => !(await isReady()));
    expect((await agent.command('status')).text).toContain('clientCertHeader: Required');
    await relying('Optional');
    await until('it is ready', isReady);
    await until('the service', async () => (await ask()) === 'web answers');
  });

  it('counts in all of them together, by the names of Envoy', async () => {
    const text = await metrics();
    expect(text).toMatch(/^causeway_agent_plane_processes\{proxy="default.web-1"\} 2$/m);
    expect(text).toMatch(/^causeway_agent_plane_process_restarts_total\{proxy="default.web-1"\} 1$/m);
    const served = new RegExp(
      `^envoy_listener_downstream_cx_total\\{envoy_listener_address="127.0.0.1_${ports.inbound}"\\} (\\d+)$`,
      'm',
    );
    const before = Number(served.exec(text)?.[1]);
    await Promise.all(Array.from({ length: 6 }, ask));
    expect(Number(served.exec(await metrics())?.[1])).toBe(before + 6);
  });

  it('changes their number when its file does, back to the process of the agent, and leaves none behind', async () => {
    agent.write(config(3));
    await until('three', async () => (await pids()).length === 3);
    await until('the service', async () => (await ask()) === 'web answers');
    const before = await pids();
    agent.write(config(1));
    await until('none', async () => (await plane())?.processes === undefined && (await plane())?.type === 'serving');
    await until('the service', async () => (await ask()) === 'web answers');
    await until('none is left', () => before.every((pid) => !isRunning(pid)));
  });
});
