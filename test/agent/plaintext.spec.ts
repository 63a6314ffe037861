/*
 * Requirements of this file, and their other tests:
 * * In Strict a process that listens at all addresses is NotReady until it is guarded; a guarded port answers its
 *   proxy only. Also: test/agent/capture.spec.ts, test/agent/direct-process.spec.ts.
 * * Inbound: `PlaintextReachable`, `guardInbound`, off and on by the file and with the mode of the mesh. Also:
 *   libs/agent/src/capture/plaintext-reachable.spec.ts, test/agent/capture.spec.ts.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describeWhere } from '../dns/programs';
import type { ParsedJson } from '../rest/rest-fixture';
import { AgentMachines } from '../support/agent-machines';
import type { AgentProcess } from '../support/agent-process';
import { dialFrom, serveIn } from '../support/namespace-programs';
import { canFilter } from '../support/network-namespace';
import { until } from '../support/until';

const SERVICE = { name: 'redis', port: 16_379, servicePort: 6_379, health: { tcp: {}, interval: '250ms' } };
const CONFIG = { plane: 'builtin', capture: 'none' };
const WHERE =
  'PlaintextReachable: the process listens at 0.0.0.0:6379: it must listen on loopback, or have guardInbound';

describeWhere(
  'packet filters',
  canFilter,
  'root, nftables and iproute2',
)('a process that listens at all addresses, with an agent, in a network namespace', () => {
  let machines: AgentMachines;
  let agent: AgentProcess;
  let before = '';
  const write = (...services: readonly object[]): void => {
    const dataplanes = [{ name: 'redis-1', address: '10.7.1.1', services }];
    agent.write({ ...(parse(readFileSync(agent.file, 'utf8')) as object), dataplanes });
  };
  const stored = async (): Promise<ParsedJson> =>
    (await machines.get('/meshes/default/dataplanes/redis-1')) as ParsedJson;
  const inboundState = async (): Promise<unknown> => {
    const found = await stored();
    return found && (found.spec.networking.inbound[0].state ?? 'Ready');
  };
  const condition = async (): Promise<ParsedJson> =>
    (await stored())?.status?.conditions?.find(({ type }: ParsedJson) => type === 'Healthy');
  const becomes = (state: string): Promise<unknown> =>
    until(`it is ${state}`, async () => (await inboundState()) === state);
  const setMode = (mtls: string): Promise<void> =>
    machines.zone.put('/meshparameters/mode', { type: 'MeshParameters', name: 'mode', spec: { mtls } });
  /** Returns what another host and this one get at the port of the process, and at the port of another process. */
  const dialAll = async (): Promise<unknown> => [
    await dialFrom(machines.there, '10.7.1.1,6379', '10.7.1.1,2200'),
    await dialFrom(machines.here, '127.0.0.1,6379', '10.7.1.1,6379'),
  ];

  beforeAll(async () => {
    machines = await AgentMachines.start();
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'mode' };
    await setMode('Strict');
    await machines.zone.put('/meshes/default', { type: 'Mesh', name: 'default', spec: { parametersRef } });
    await serveIn(machines.here, '0.0.0.0,6379,redis', '0.0.0.0,2200,process');
    before = await machines.here.state();
    const dataplanes = [{ name: 'redis-1', address: '10.7.1.1', services: [SERVICE] }];
    agent = await machines.agent(machines.here, 'redis-1', { ...CONFIG, dataplanes });
    await agent.start();
  });
  afterAll(() => machines?.close());

  it('is NotReady in Strict, and the reason is told at the Dataplane and by the agent', async () => {
    await becomes('NotReady');
    const told = await until('the reason', async () => {
      const found = await condition();
      return found?.reason === 'PlaintextReachable' && !String(found.message).includes('not known yet') && found;
    });
    expect(told).toMatchObject({ status: 'False', message: `inbound 0: tcp 127.0.0.1:6379: ${WHERE}` });
    expect((await agent.command('status')).text).toContain(`port 16379, not ready (tcp 127.0.0.1:6379: ${WHERE})`);
    expect(await dialAll()).toEqual([
      ['redis to 10.7.1.1', 'process to 10.7.1.1'],
      ['redis to 127.0.0.1', 'redis to 10.7.1.1'],
    ]);
  });

  it('is ready once it is guarded: its port answers its proxy only, and no other port is touched', async () => {
    write({ ...SERVICE, guardInbound: true });
    await becomes('Ready');
    await until('the condition', async () => (await condition())?.reason === 'ChecksPass');
    const [remote] = (await dialAll()) as readonly (readonly string[])[];
    expect(remote).toEqual(['ECONNREFUSED', 'process to 10.7.1.1']);
    // A user other than the proxy's: the proxy runs as root here.
    const asNobody = ['setpriv', '--reuid=65534', '--clear-groups', process.execPath, '-e', DIAL_ONCE];
    expect((await machines.here.execute(asNobody)).stdout.trim()).toBe('ECONNREFUSED');
    expect((await agent.command('status')).text).toMatch(/only the proxy reaches port 6379/);
  });

  it('stays guarded where somebody flushes the rules, and is NotReady again without the guard', async () => {
    await machines.here.run('nft', ['flush', 'ruleset']);
    await until('the rule is back', async () => (await agent.status())?.network?.restored === 1);
    expect(await dialFrom(machines.there, '10.7.1.1,6379')).toEqual(['ECONNREFUSED']);
    expect(await inboundState()).toBe('Ready');
    write(SERVICE);
    await becomes('NotReady');
    // No traffic comes here any more when the rule goes.
    await until('the rule is gone', async () => (await machines.here.state()) === before);
    expect(await dialFrom(machines.there, '10.7.1.1,6379')).toEqual(['redis to 10.7.1.1']);
  });

  it('is ready where the mesh takes plaintext, and NotReady when the mesh is Strict again', async () => {
    await setMode('Permissive');
    await becomes('Ready');
    await setMode('Strict');
    await becomes('NotReady');
    expect(agent.isRunning).toBe(true);
  });
});

const DIAL_ONCE = `
require('node:net').connect(6379, '127.0.0.1', () => console.log('connected')).on('error', ({ code }) => console.log(code));
`;
