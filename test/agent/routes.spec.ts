import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import { formatJoinBundle } from '@causeway/identity';
import { freePort } from '../../scripts/lib/ports.mjs';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import { AgentProcess } from '../support/agent-process';
import { drawnFairly } from '../support/fair-draw';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

const DRAWS = 400;
const AT_ONCE = 20;
const SERVICES = ['front', 'v1', 'v2', 'web'] as const;

/** Answers each connection with its name, and ends it. */
async function sayer(name: string): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(name));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Returns the text that comes on a new connection; empty if it is refused or closed. */
function said(port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('data', (part: Buffer) => (text += part.toString()));
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
}

describe('a machine with the builtin plane', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cwa-'));
  const servers: Server[] = [];
  const inbounds = new Map<string, number>();
  const ports = { xds: 0, front: 0, web: 0, metrics: 0 };
  let database: TestDatabase;
  let zone: ZoneProgram;
  let agent: AgentProcess;

  const put = async (kind: string, name: string, parent: string, rules: object[]): Promise<void> => {
    const spec = { parentRefs: [{ kind: 'Service', name: parent }], rules };
    const answer = await adminFetch(`${zone.restUrl}/meshes/default/${kind.toLowerCase()}s/${name}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: kind, mesh: 'default', name, spec }),
    });
    expect([answer.status, answer.status < 300 ? '' : await answer.text()]).toEqual([201, '']);
  };
  const backendRefs = (weights: Readonly<Record<string, number>>): object[] =>
    Object.entries(weights).map(([name, weight]) => ({ name, weight, port: inbounds.get(name) ?? 1 }));

  async function draw(): Promise<readonly string[]> {
    const answers: string[] = [];
    while (answers.length < DRAWS)
      answers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => said(ports.front)))));
    return answers;
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    for (const name of ['xds', 'front', 'web', 'metrics'] as const) ports[name] = await freePort();
    const services: object[] = [];
    for (const name of SERVICES) {
      const server = await sayer(name);
      servers.push(server);
      const port = await freePort();
      inbounds.set(name, port);
      const protocol = name === 'web' ? 'http' : 'tcp';
      services.push({ name, port, servicePort: (server.address() as AddressInfo).port, protocol });
    }
    zone = await ZoneProgram.start({
      DATABASE_URL: database.url,
      CAUSEWAY_XDS_TLS: 'on',
      CAUSEWAY_XDS_PORT: String(ports.xds),
    });
    await zone.untilLeading();
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.ensureKey();
    const { token } = await tokens.issue({
      mesh: 'default',
      name: 'all-1',
      validFor: '1h',
      services: [...SERVICES],
    });
    const [controlPlanes, authority] = [[`127.0.0.1:${ports.xds}`], zone.authority ?? ''];
    const bundle = join(folder, 'all-1.bundle');
    const text = formatJoinBundle({ controlPlanes, zone: 'east', mesh: 'default', token, authority });
    writeFileSync(bundle, text, { mode: 0o600 });
    const outbounds = (['front', 'web'] as const).map((name) => ({
      port: ports[name],
      backend: { name, port: inbounds.get(name) },
    }));
    const dataplanes = [{ name: 'all-1', address: '127.0.0.1', services, outbounds }];
    const metrics = { port: ports.metrics };
    agent = new AgentProcess(join(folder, 'a'), { bundle, plane: 'builtin', drainTime: '1s', metrics, dataplanes });
    await agent.start();
    await until('the services', async () => (await said(ports.front)) === 'front' && (await said(ports.web)) === 'web');
  });
  afterAll(async () => {
    await agent?.end();
    await zone?.stop();
    await database?.drop();
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('obeys a TCPRoute: connections have the shares of its weights; the share of a missing backend is closed', async () => {
    await put('TCPRoute', 'split', 'front', [{ backendRefs: backendRefs({ v1: 70, v2: 30 }) }]);
    await until('the route', async () => (await said(ports.front)) !== 'front');
    expect(await drawnFairly(draw, { v1: 70, v2: 30 })).toEqual([]);
    await put('TCPRoute', 'older', 'web', [{ backendRefs: backendRefs({ v1: 1, missing: 1 }) }]);
    await until('a share that is closed', async () => (await said(ports.web)) === '');
    await until('the other share', async () => (await said(ports.web)) === 'v1');
  });

  it('serves a service with an HTTPRoute, and says that it does not obey it: status, metric, condition', async () => {
    await put('HTTPRoute', 'requests', 'web', [
      { matches: [{ path: { type: 'Exact', value: '/v1' } }], backendRefs: backendRefs({ v1: 1 }) },
    ]);
    const what = 'routes are for requests: bytes go to the service itself';
    const unobeyed = async (): Promise<string | undefined> =>
      (await agent.status())?.proxies[0]?.plane.unobeyed?.parts.map((part) => part.what).join();
    await until('its status', async () => (await unobeyed())?.includes(what));
    await until('the service itself', async () => (await said(ports.web)) === 'web');
    const metrics = await (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text();
    expect(metrics).toMatch(/^causeway_agent_plane_unobeyed\{proxy="default.all-1"\} [1-9]$/m);
    const condition = await until('a condition', async () => {
      const answer = await adminFetch(`${zone.restUrl}/meshes/default/dataplanes/all-1`);
      const { status } = (await answer.json()) as { status?: { conditions?: { type: string; message: string }[] } };
      return status?.conditions?.find(({ type, message }) => type === 'Obeyed' && message.includes(what));
    });
    expect(condition).toMatchObject({ status: 'False', reason: 'PlaneCannot' });
  });
});
