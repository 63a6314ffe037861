/*
 * The program: one file or flags, hot reload; several services; joins with a bundle; the Dataplane is registered and
 * held by a lease; a mass end is held; a cloned machine is refused; several addresses of control planes; its state on
 * disk. Also: libs/agent/src/config/read-config.spec.ts, test/scenarios/agent-leases.spec.ts,
 * libs/store/testing/conformance/agent-leases.ts, test/agent/zones.spec.ts, test/agent/grpc.spec.ts,
 * test/ctl/join-bundle.spec.ts, libs/agent/src/resources/resource-file.spec.ts.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Resolver } from 'node:dns/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import { formatJoinBundle } from '@causeway/identity';
import { freePort } from '../../scripts/lib/ports.mjs';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import { AgentProcess } from '../support/agent-process';
import { ENVOY } from '../support/envoy-process';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

const MESH = 'default';

/** Whether a process runs: a zombie does not. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return false;
  }
}

/** Returns the answer of a service to a line on a new connection; empty if there is none. */
function ask(port: number, line = 'hello'): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\n`));
    const finish = (): void => {
      socket.destroy();
      resolve(text.trim());
    };
    socket.setTimeout(20_000, finish);
    socket.on('data', (part: Buffer) => {
      text += part.toString();
      if (text.includes('\n')) finish();
    });
    socket.on('error', finish).on('close', finish);
  });
}

(ENVOY === undefined ? describe.skip : describe)('agents of machines, a zone with Postgres, and real Envoys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cwa-'));
  let database: TestDatabase;
  let zone: ZoneProgram;
  let xdsPort = 0;
  let service: Server;
  let server: AgentProcess;
  let client: AgentProcess;
  const ports = { service: 0, inbound: 0, outbound: 0, metrics: 0, dns: 0 };

  /** `validity`: of certificates that it signs. */
  const startZone = (validity: string): Promise<ZoneProgram> =>
    ZoneProgram.start({
      DATABASE_URL: database.url,
      CAUSEWAY_XDS_TLS: 'on',
      CAUSEWAY_XDS_PORT: String(xdsPort),
      CAUSEWAY_WORKLOAD_CERT_VALIDITY: validity,
    });

  /** Of the Dataplanes of this file. */
  const SERVICES = ['echo', 'second'];

  /** Writes what `causeway tokens dataplane NAME --bundle` prints. */
  async function bundleFor(name: string, validFor = '1h'): Promise<string> {
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.ensureKey();
    const { token } = await tokens.issue({ mesh: MESH, name, services: SERVICES, validFor });
    const file = join(folder, `${name}.bundle`);
    const authority = zone.authority ?? '';
    const text = formatJoinBundle({
      controlPlanes: [`127.0.0.1:${xdsPort}`],
      zone: 'east',
      mesh: MESH,
      token,
      authority,
    });
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }
  const serverConfig = async (): Promise<object> => ({
    bundle: join(folder, 'echo-1.bundle'),
    plane: 'envoy',
    envoy: { path: ENVOY, concurrency: 1 },
    drainTime: '2s',
    metrics: { port: ports.metrics },
    dns: { port: ports.dns },
    dataplanes: [
      {
        name: 'echo-1',
        address: '127.0.0.1',
        services: [
          { name: 'echo', port: ports.inbound, servicePort: ports.service, health: { tcp: {}, interval: '500ms' } },
        ],
      },
    ],
  });
  const clientConfig = (): object => ({
    bundle: join(folder, 'web-1.bundle'),
    plane: 'envoy',
    envoy: { path: ENVOY, concurrency: 1 },
    drainTime: '2s',
    dataplanes: [
      {
        name: 'web-1',
        address: '127.0.0.1',
        outbounds: [{ port: ports.outbound, backend: { name: 'echo', port: ports.inbound } }],
      },
    ],
  });
  /** Of the Envoy of an agent. */
  const pidOf = async (agent: AgentProcess): Promise<number> => {
    const { pid } = (await agent.status())?.proxies[0]?.plane ?? {};
    if (pid === undefined || pid < 2) throw new Error(`no Envoy runs: ${agent.log}`);
    return pid;
  };
  const sockets = new Set<Socket>();
  async function startService(): Promise<void> {
    service = createServer((socket) => {
      sockets.add(socket);
      socket.on('data', (line: Buffer) => socket.write(`echo ${line.toString()}`));
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => service.listen(ports.service, '127.0.0.1', resolve));
  }
  async function stopService(): Promise<void> {
    const closed = new Promise<void>((resolve) => service.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  }
  const reaches = (): Promise<unknown> =>
    until('the service', async () => (await ask(ports.outbound)) === 'echo hello');

  beforeAll(async () => {
    database = await createTestDatabase();
    ports.service = await freePort();
    await startService();
    [xdsPort, ports.inbound, ports.outbound] = [await freePort(), await freePort(), await freePort()];
    [ports.metrics, ports.dns] = [await freePort(), await freePort()];
    zone = await startZone('1m');
    await zone.untilLeading();
    await Promise.all([bundleFor('echo-1'), bundleFor('web-1')]);
    server = new AgentProcess(join(folder, 's'), await serverConfig());
    client = new AgentProcess(join(folder, 'c'), clientConfig());
    await Promise.all([server.start(), client.start()]);
  });
  afterAll(async () => {
    await Promise.all([server, client].map((agent) => agent?.end()));
    for (const agent of [server, client]) if (agent) await agent.command('uninstall');
    await zone?.stop();
    await database?.drop();
    service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('join with a bundle, register, and carry traffic through two Envoys', async () => {
    await reaches();
    const status = await until('a certificate', async () => {
      const now = await server.status();
      const [proxy] = now?.proxies ?? [];
      return proxy?.certificate && proxy.plane.type === 'serving' && now;
    });
    expect(status).toMatchObject({
      state: 'running',
      // It answers names, and carries explicit outbounds only.
      configuration: { problems: [], failures: [expect.stringMatching(/^dns: .* where capture is outbounds$/)] },
      proxies: [
        {
          type: 'dataplane',
          mesh: MESH,
          name: 'echo-1',
          controlPlane: { type: 'connected', address: `127.0.0.1:${xdsPort}` },
          plane: { is: 'envoy', type: 'serving', version: expect.stringMatching(/^1\.\d+\.\d+$/) as string },
          certificate: { id: 'spiffe://default.east.mesh.local/workload/echo-1', hasEnded: false },
          lease: { type: 'held' },
        },
      ],
    });
    // Nothing is asked for a Dataplane before the zone knows it.
    expect(server.log).not.toMatch(/NOT_FOUND|DEP0123/);
    const key = join(server.state, 'proxies', `${MESH}.echo-1`, 'key.pem');
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(statSync(server.state).mode & 0o777).toBe(0o700);
  });

  it('tell the zone and the operator of a process that is down, and of one that is up again', async () => {
    const stateAtZone = async (): Promise<unknown> => {
      const answer = await adminFetch(`${zone.restUrl}/meshes/default/dataplanes/echo-1`);
      const { spec } = (await answer.json()) as { spec: { networking: { inbound: { state?: string }[] } } };
      return spec.networking.inbound[0]?.state ?? 'Ready';
    };
    const healthHere = async (): Promise<unknown> => (await server.status())?.proxies[0]?.services[0]?.health;
    await until('it is ready', async () => (await healthHere()) === 'ready' && (await stateAtZone()) === 'Ready');
    await stopService();
    await until('it is not ready', async () => (await stateAtZone()) === 'NotReady');
    expect((await server.command('status')).text).toMatch(/service echo +port \d+, not ready \(tcp 127\.0\.0\.1:\d+: /);
    await startService();
    await until('it is ready again', async () => (await stateAtZone()) === 'Ready');
    await reaches();
  });

  it('show metrics of theirs and of their Envoy, and answer names on loopback', async () => {
    const text = await (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text();
    expect(text).toMatch(/^causeway_agent_connected\{proxy="default.echo-1"\} 1$/m);
    expect(text).toMatch(/^envoy_server_live\{\} 1$/m);
    expect((await fetch(`http://127.0.0.1:${ports.metrics}/metrics/default.other`)).status).toBe(404);
    const resolver = new Resolver();
    resolver.setServers([`127.0.0.1:${ports.dns}`]);
    await expect(resolver.resolve4('nobody.mesh.local')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('follow their configuration file, and keep the earlier one where it is wrong', async () => {
    const second = await freePort();
    const config = { ...(await serverConfig()) };
    const [dataplane] = (config as { dataplanes: { services: object[] }[] }).dataplanes;
    dataplane?.services.push({ name: 'second', port: second, servicePort: ports.service });
    server.write(config);
    await until('the second service', async () => (await server.status())?.proxies[0]?.services.length === 2);
    const pid = await pidOf(server);
    server.write('plane: [');
    const problems = await until('the problem', async () => {
      const found = (await server.status())?.configuration.problems;
      return found && found.length > 0 && found;
    });
    expect(problems).toEqual([expect.stringMatching(/agent\.yaml: line \d+, column \d+: /)]);
    expect((await server.command('status')).text).toContain('configuration not in use: ');
    server.write(await serverConfig());
    await until('it is in use again', async () => {
      const status = await server.status();
      return status?.configuration.problems.length === 0 && status.proxies[0]?.services.length === 1;
    });
    // Another service is no reason for another proxy.
    expect((await server.status())?.proxies[0]?.plane.pid).toBe(pid);
    expect(await ask(ports.outbound)).toBe('echo hello');
  });

  it('killed and started again keep their Envoy and go on with it; while the agent is away traffic goes on', async () => {
    const before = await pidOf(client);
    await client.end('SIGKILL');
    expect(await ask(ports.outbound)).toBe('echo hello');
    await client.start();
    const after = await until('the plane serves', async () => {
      const plane = (await client.status())?.proxies[0]?.plane;
      return plane?.type === 'serving' && plane;
    });
    expect(after.pid).toBe(before);
    await until(
      'the zone is connected',
      async () => (await client.status())?.proxies[0]?.controlPlane.type === 'connected',
    );
    expect(await ask(ports.outbound)).toBe('echo hello');
  });

  it('start an Envoy again that was killed', async () => {
    const pid = await pidOf(client);
    process.kill(pid, 'SIGKILL');
    await until('another one', async () => {
      const plane = (await client.status())?.proxies[0]?.plane;
      return plane?.pid !== undefined && plane.pid !== pid && plane.type === 'serving';
    });
    await reaches();
  });

  it('renew by their certificate when their token is of no use any more', async () => {
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    const { id, token } = await tokens.issue({ mesh: MESH, name: 'web-1', services: SERVICES, validFor: '1m' });
    const text = { controlPlanes: [`127.0.0.1:${xdsPort}`], zone: 'east', mesh: MESH, authority: zone.authority ?? '' };
    writeFileSync(join(folder, 'web-1.bundle'), formatJoinBundle({ ...text, token }));
    await tokens.revoke(id);
    const before = (await client.status())?.proxies[0]?.certificate?.until ?? 0;
    // Its stream began with the token of before, or with a certificate: what counts is that it is there afterwards.
    await client.end('SIGKILL');
    await client.start();
    await until('another certificate', async () => {
      const proxy = (await client.status())?.proxies[0];
      const isThere = proxy?.controlPlane.type === 'connected' && proxy.lease?.type === 'held';
      return isThere && (proxy.certificate?.until ?? 0) > before;
    });
    expect(await ask(ports.outbound)).toBe('echo hello');
  });

  it('serve after a start without any control plane what they were told before', async () => {
    await zone.stop();
    zone = await startZone('1h');
    // Certificates that last for as long as the zone is away, however slow the machine is.
    const lasts = async (agent: AgentProcess): Promise<boolean> =>
      ((await agent.status())?.proxies[0]?.certificate?.until ?? 0) > Date.now() + 1_800_000;
    for (const agent of [client, server]) await until('a certificate of an hour', () => lasts(agent));
    await zone.stop();
    for (const agent of [client, server]) {
      const pid = await pidOf(agent);
      await agent.end('SIGKILL');
      process.kill(pid, 'SIGKILL');
    }
    expect(await ask(ports.outbound)).toBe('');
    await Promise.all([client.start(), server.start()]);
    await reaches();
    await until('its plane serves', async () => (await client.status())?.proxies[0]?.plane.type === 'serving');
    expect((await client.status())?.proxies[0]).toMatchObject({
      controlPlane: { type: 'connecting' },
      lease: { type: 'waiting' },
    });
    zone = await startZone('1h');
    for (const agent of [client, server])
      await until('it is connected again', async () => {
        const proxy = (await agent.status())?.proxies[0];
        return proxy?.controlPlane.type === 'connected' && proxy.lease?.type === 'held';
      });
    expect(await ask(ports.outbound)).toBe('echo hello');
  });

  it('refuse a second agent with the same state, and say what is wrong with a configuration', async () => {
    const second = new AgentProcess(server.folder, await serverConfig());
    await expect(second.start()).rejects.toThrow(/another agent runs with this state folder/);
    expect(await server.command('run', '--plane', 'enovy')).toEqual({
      code: 2,
      text: expect.stringContaining('plane: must be one of envoy, builtin, direct, grpc; got "enovy"') as string,
    });
  });

  it('drain: withdrawn at the zone, then gone; uninstalled nothing is left', async () => {
    const pid = await pidOf(server);
    const [code] = [await server.command('drain')];
    expect(code).toEqual({ code: 0, text: 'the agent has ended\n' });
    await until('its end', () => !server.isRunning);
    expect(isAlive(pid)).toBe(false);
    const left = await adminFetch(`${zone.restUrl}/meshes/default/dataplanes/echo-1`);
    expect(left.status).toBe(404);
    expect((await server.command('status')).code).toBe(1);
    expect((await server.command('uninstall')).text).toBe(`removed ${server.state}\n`);
    expect(() => statSync(server.state)).toThrow('ENOENT');
    expect((await server.command('uninstall')).code).toBe(1);
  });
});
