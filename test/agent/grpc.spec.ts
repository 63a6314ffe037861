import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import { formatJoinBundle } from '@causeway/identity';
import { register } from '@grpc/grpc-js-xds';
import { freePort } from '../../scripts/lib/ports.mjs';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import { AgentProcess } from '../support/agent-process';
import { GrpcProgram, looseTimers, plainCall } from '../support/grpc-workload';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

const TARGET = 'greeter.svc.mesh.local';

/** Unmodified gRPC programs (grpc-js-xds) without proxies, at the sockets of their agents; the zone serves TLS, which they know not. */
describe('gRPC programs beside an agent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cwg-'));
  const stops: (() => void)[] = [];
  const agents: AgentProcess[] = [];
  let database: TestDatabase;
  let zone: ZoneProgram;
  let port = 0;

  async function start(
    name: string,
    services: readonly { readonly name: string; readonly [field: string]: unknown }[],
  ): Promise<AgentProcess> {
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.ensureKey();
    const { token } = await tokens.issue({
      mesh: 'default',
      name,
      services: services.map((one) => one.name),
      validFor: '1h',
    });
    const bundle = join(folder, `${name}.bundle`);
    const place = { controlPlanes: [`127.0.0.1:${zone.xds.address.port}`], zone: 'east', mesh: 'default' };
    writeFileSync(bundle, formatJoinBundle({ ...place, token, authority: zone.authority ?? '' }), { mode: 0o600 });
    const dataplanes = [{ name, address: '127.0.0.1', services }];
    const agent = new AgentProcess(join(folder, name), { bundle, plane: 'grpc', drainTime: '1s', dataplanes });
    agents.push(agent);
    await agent.start();
    await until(
      `${name} has its files`,
      async () => (await agent.status())?.proxies[0]?.plane.type === 'serving',
    ).catch(async (error: unknown) => {
      throw new Error(`${(await agent.command('status')).text} ${agent.log}`, { cause: error });
    });
    return agent;
  }
  const filesOf = (agent: AgentProcess, name: string): string =>
    join(agent.state, 'proxies', `default.${name}`, 'grpc');
  function program(agent: AgentProcess, name: string): GrpcProgram {
    const made = new GrpcProgram(readFileSync(join(filesOf(agent, name), 'grpc.json'), 'utf8'));
    stops.push(() => made.stop());
    return made;
  }

  beforeAll(async () => {
    register();
    stops.push(looseTimers());
    database = await createTestDatabase();
    zone = await ZoneProgram.start({ DATABASE_URL: database.url, CAUSEWAY_XDS_TLS: 'on' });
    await zone.untilLeading();
    port = await freePort();
  });
  afterAll(async () => {
    stops.reverse().forEach((stop) => stop());
    await Promise.all(agents.map((agent) => agent.end()));
    await zone?.stop();
    await database?.drop();
    rmSync(folder, { recursive: true });
  });

  it('call each other by mutual TLS, and a program that begins while every control plane is away as well', async () => {
    const at = `127.0.0.1:${port}`;
    const greeter = { name: 'greeter', port, serviceAddress: '127.0.0.1', protocol: 'grpc', portName: 'grpc' };
    const server = await start('greeter-1', [{ ...greeter, health: { tcp: {}, interval: '500ms' } }]);
    const client = await start('client-1', []);
    const leaf = new X509Certificate(readFileSync(join(filesOf(client, 'client-1'), 'certificate.pem')));
    expect(leaf.subjectAltName).toBe('URI:spiffe://default.east.mesh.local/workload/client-1');
    await program(server, 'greeter-1').serve('greeter', at);
    const call = program(client, 'client-1').channel(TARGET);
    await until('an answer', async () => (await call()) === 'greeter');
    expect(await plainCall(at)).toBe('UNAVAILABLE');
    expect((await client.status())?.proxies[0]).toMatchObject({ plane: { is: 'grpc' }, lease: { type: 'held' } });

    await zone.stop();
    expect(await call()).toBe('greeter');
    await client.end('SIGKILL');
    await client.start();
    const later = program(client, 'client-1').channel(TARGET);
    await until('an answer without control planes', async () => (await later()) === 'greeter');
    expect((await client.status())?.proxies[0]?.controlPlane.type).toBe('connecting');
  });
});
