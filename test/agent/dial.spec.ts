import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import { formatJoinBundle } from '@causeway/identity';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { freePort } from '../../scripts/lib/ports.mjs';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import type { ParsedJson } from '../rest/rest-fixture';
import { adminFetch } from '../support/admin-credential';
import { AgentProcess } from '../support/agent-process';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

const ENVOY = process.env['CAUSEWAY_ENVOY'];
const PLANES = ENVOY === undefined ? (['builtin'] as const) : (['builtin', 'envoy'] as const);
/** Networks that the agents of these tests may dial: not 127.0.0.1, where the victim listens. */
const MAY_DIAL = ['default', '127.9.0.0/16'];

/** Answers each connection with its name, and counts connections. */
class Sayer {
  connections = 0;
  private readonly server: Server;

  constructor(name: string) {
    this.server = createServer((socket) => {
      this.connections += 1;
      socket.on('error', () => undefined).end(name);
    });
  }

  async listen(address: string, port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(port, address, resolve));
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    this.server.close();
  }
}

/** Returns the text that comes on a new connection; empty if it is refused or closed. */
function said(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host, port });
    socket.on('data', (part: Buffer) => (text += part.toString()));
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
}

describe.each(PLANES)('a machine with the plane %s, whatever its zone says', (plane) => {
  const folder = mkdtempSync(join(tmpdir(), 'cwd-'));
  const [own, victim] = [new Sayer('own'), new Sayer('victim')];
  const ports = { xds: 0, inbound: 0, outbound: 0, own: 0, victim: 0 };
  const address = plane === 'envoy' ? '127.9.1.1' : '127.9.1.2';
  let database: TestDatabase;
  let zone: ZoneProgram;
  let agent: AgentProcess;

  const stored = async (name = 'web-1'): Promise<ParsedJson> => {
    const answer = await adminFetch(`${zone.restUrl}/meshes/default/dataplanes/${name}`);
    return answer.ok ? answer.json() : undefined;
  };
  const condition = async (type: string): Promise<ParsedJson> =>
    (await stored())?.status?.conditions?.find((one: ParsedJson) => one.type === type);
  /** Writes as a zone that keeps no rule of admission. */
  async function write(name: string, labels: Record<string, string>, spec: ParsedJson): Promise<void> {
    const { store } = zone.app.get<PostgresBackend>(POSTGRES_BACKEND, { strict: false });
    const id = { kind: 'Dataplane', mesh: 'default', zone: 'east', namespace: 'default', name };
    await store.write({ changes: [{ type: 'put', id, expect: 'any', labels, spec }], onRefusal: 'abort' });
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    for (const name of ['xds', 'inbound', 'outbound'] as const) ports[name] = await freePort();
    [ports.own, ports.victim] = [await own.listen('127.0.0.1'), await victim.listen('127.0.0.1')];
    zone = await ZoneProgram.start({
      DATABASE_URL: database.url,
      CAUSEWAY_XDS_TLS: 'on',
      CAUSEWAY_XDS_PORT: String(ports.xds),
    });
    await zone.untilLeading();
    await zone.put('/meshparameters/open', { type: 'MeshParameters', name: 'open', spec: { mtls: 'Permissive' } });
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'open' };
    await zone.put('/meshes/default', { type: 'Mesh', name: 'default', spec: { parametersRef } });
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.ensureKey();
    const { token } = await tokens.issue({ mesh: 'default', name: 'web-1', services: ['web'], validFor: '10m' });
    const bundle = join(folder, 'bundle');
    const facts = { controlPlanes: [`127.0.0.1:${ports.xds}`], zone: 'east', mesh: 'default', token };
    writeFileSync(bundle, formatJoinBundle({ ...facts, authority: zone.authority ?? '' }), { mode: 0o600 });
    const services = [{ name: 'web', port: ports.inbound, servicePort: ports.own }];
    const outbounds = [{ port: ports.outbound, backend: { name: 'far', port: ports.victim } }];
    agent = new AgentProcess(join(folder, 'a'), {
      bundle,
      plane,
      drainTime: '1s',
      mayDial: MAY_DIAL,
      dataplanes: [{ name: 'web-1', address, services, outbounds }],
      ...(ENVOY !== undefined && plane === 'envoy' && { envoy: { path: ENVOY, concurrency: 1 } }),
    });
    await agent.start();
    await until('its service answers', async () => (await said(address, ports.inbound)) === 'own');
  });
  afterAll(async () => {
    await agent.end();
    await agent.command('uninstall');
    await zone.stop();
    await database.drop();
    own.close();
    victim.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('forwards its inbound to the process of its own file, and the zone hears why not elsewhere', async () => {
    const { labels, spec } = await stored();
    const [inbound] = spec.networking.inbound;
    const stolen = [{ ...inbound, serviceAddress: '127.0.0.1', servicePort: ports.victim }];
    // Its agent writes its own spec again when it reports a refusal; a hostile zone does not let it.
    const steal = async (): Promise<void> => {
      const [now] = (await stored()).spec.networking.inbound;
      if (now.servicePort !== ports.victim)
        await write('web-1', labels, { networking: { ...spec.networking, inbound: stolen } });
    };
    const whileStealing = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
      return async () => {
        await steal();
        return ask();
      };
    };
    const refusal = `agent.yaml names no service with the process 127.0.0.1:${ports.victim}: inbounds lead to 127.0.0.1:${ports.own}`;
    const isRejected = async (): Promise<boolean> =>
      (await condition('RejectedByProxy'))?.message.includes(refusal) === true &&
      (await condition('Programmed'))?.message.includes('RejectedByProxy') === true &&
      (await condition('Programmed')).status === 'False';
    await until('the zone hears it', whileStealing(isRejected));
    const status = async (): Promise<boolean> =>
      (await agent.command('status')).text.includes(
        `refused      localhost:127.0.0.1:${ports.victim}: agent.yaml names`,
      );
    await until('its operator hears it', whileStealing(status));
    expect(await said(address, ports.inbound)).not.toBe('victim');
    expect(victim.connections).toBe(0);
    await write('web-1', labels, spec);
    await until('it is told', async () => (await condition('RejectedByProxy')) === undefined);
    await until('its service answers', async () => (await said(address, ports.inbound)) === 'own');
    expect((await agent.command('status')).text).not.toContain('refused');
  });

  it('dials only what its file allows: hosts elsewhere are left out, and both the zone and its operator hear which', async () => {
    const far = (at: string): object => ({
      networking: { address: at, inbound: [{ port: ports.victim, tags: { 'kuma.io/service': 'far' } }] },
    });
    await write('far-1', { 'kuma.io/origin': 'zone' }, far('127.0.0.1'));
    const refusal = `127.0.0.1:${ports.victim} not dialled: mayDial of agent.yaml does not allow it`;
    await until('the zone hears it', async () => {
      const found = await condition('Obeyed');
      return found?.status === 'False' && String(found.message).includes(refusal);
    });
    expect(await said('127.0.0.1', ports.outbound)).toBe('');
    expect(victim.connections).toBe(0);
    expect((await agent.command('status')).text).toMatch(/refused +\S+: 127\.0\.0\.1:\d+ not dialled/);

    const reached = new Sayer('reached');
    await reached.listen('127.9.7.7', ports.victim);
    await write('far-1', { 'kuma.io/origin': 'zone' }, far('127.9.7.7'));
    await until('it is dialled', async () => (await said('127.0.0.1', ports.outbound)) === 'reached');
    await until('that is told', async () => (await condition('Obeyed')) === undefined);
    reached.close();
  });

  it('follows another mayDial of its file at once, and without it dials no loopback but its own services', async () => {
    const far = new Sayer('far');
    await far.listen('127.9.7.8', ports.victim);
    const networking = { address: '127.9.7.8', inbound: [{ port: ports.victim, tags: { 'kuma.io/service': 'far' } }] };
    await write('far-1', { 'kuma.io/origin': 'zone' }, { networking });
    await until('it is dialled', async () => (await said('127.0.0.1', ports.outbound)) === 'far');
    const before = agent.settings;
    agent.write({ ...before, mayDial: ['default'] });
    await until('it is not dialled', async () => (await said('127.0.0.1', ports.outbound)) === '');
    expect(await said(address, ports.inbound)).toBe('own');
    agent.write(before);
    await until('it is dialled again', async () => (await said('127.0.0.1', ports.outbound)) === 'far');
    far.close();
  });
});
