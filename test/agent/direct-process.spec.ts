import { describeWhere } from '../dns/programs';
import type { ParsedJson } from '../rest/rest-fixture';
import { AgentMachines } from '../support/agent-machines';
import type { AgentProcess } from '../support/agent-process';
import { dialFrom, serveIn } from '../support/namespace-programs';
import { canFilter } from '../support/network-namespace';
import { until } from '../support/until';

const PORT = 8_080;
const CONFIG = { plane: 'direct', trustedNetworks: ['10.7.1.0/24'] };
const ANSWER = 'echo to 10.7.1.2';
const WHERE = `PlaintextReachable: the process listens at 10.7.1.2:${PORT}: the plane direct cannot identify callers`;
const LOST = '1 endpoint outside trustedNetworks';

describeWhere(
  'packet filters',
  canFilter,
  'root, nftables and iproute2',
)('causeway-agent run with the plane direct, in network namespaces', () => {
  let machines: AgentMachines;
  let client: AgentProcess;
  let server: AgentProcess;
  let vip = '';
  let before = '';
  const state = (): Promise<string> => machines.here.state();
  const dial = async (...addresses: readonly string[]): Promise<unknown> => dialFrom(machines.here, ...addresses);
  const leads = (): Promise<unknown> =>
    until('the process', async () => String(await dial(`${vip},${PORT}`)) === ANSWER);
  const planeOf = async (agent: AgentProcess) => (await agent.status())?.proxies[0]?.plane;
  const conditionOf = async (dataplane: string, type: string): Promise<ParsedJson> => {
    const found = (await machines.get(`/meshes/default/dataplanes/${dataplane}`)) as ParsedJson;
    return found?.status?.conditions?.find((one: ParsedJson) => one.type === type);
  };
  const setMode = (mtls: string): Promise<void> =>
    machines.zone.put('/meshparameters/mode', { type: 'MeshParameters', name: 'mode', spec: { mtls } });
  const vipOf = (name: string): Promise<string> =>
    until(`the virtual IP of ${name}`, async () => {
      const { vip: found } = ((await machines.get(`/meshes/default/meshservices/${name}`)) as ParsedJson)?.status ?? {};
      return (found?.ip as string | undefined) ?? false;
    });

  beforeAll(async () => {
    machines = await AgentMachines.start();
    const { here, there, zone } = machines;
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'mode' };
    await setMode('Permissive');
    await zone.put('/meshes/default', { type: 'Mesh', name: 'default', spec: { parametersRef } });
    // A caller that this host does not trust.
    const tags = { 'kuma.io/service': 'away', 'kuma.io/protocol': 'tcp' };
    await zone.put('/meshes/default/dataplanes/away-1', {
      type: 'Dataplane',
      mesh: 'default',
      name: 'away-1',
      spec: { networking: { address: '192.0.2.9', inbound: [{ port: PORT, tags }] } },
    });
    await serveIn(there, `10.7.1.2,${PORT},echo`);
    const health = { tcp: {}, interval: '250ms' };
    const services = [{ name: 'echo', port: PORT, serviceAddress: '10.7.1.2', health }];
    const dataplanes = [{ name: 'echo-1', address: '10.7.1.2', services }];
    server = await machines.agent(there, 'echo-1', { ...CONFIG, capture: 'none', dataplanes });
    await server.start();
    vip = await vipOf('echo');
    await vipOf('away');
    before = await state();
    const own = [{ name: 'client-1', address: '10.7.1.1' }];
    const metrics = { port: 9_902 };
    client = await machines.agent(here, 'client-1', { ...CONFIG, capture: 'redirect', metrics, dataplanes: own });
    await client.start();
  });
  afterAll(() => machines?.close());

  it('leads a virtual IP to a process, refuses others at once, and shows its rules', async () => {
    await leads();
    expect(await dial('241.99.9.9,80', `${vip},${PORT + 1}`)).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
    await until('what it cannot do', async () => (await planeOf(client))?.rules?.lost === 1);
    expect(await planeOf(client)).toMatchObject({ is: 'direct', type: 'serving', rules: { addresses: 1 } });
    expect((await client.command('status')).text).toMatch(
      /rules +1 address:port of virtual IPs lead to endpoints, 1 not, or not to all of theirs, loaded \w+ ago/,
    );
  });

  it('puts its rules back where somebody flushes them, says it, and counts it', async () => {
    await machines.here.run('nft', ['flush', 'table', 'inet', 'causeway_direct']);
    await until('the rules are back', async () => (await planeOf(client))?.rules?.restored === 1);
    await leads();
    expect((await client.command('status')).text).toMatch(/rules .* put back once, last \d+s ago/);
    const fetched = `fetch('http://127.0.0.1:9902/metrics').then((answer) => answer.text()).then(console.log)`;
    const { stdout } = await machines.here.execute([process.execPath, '-e', fetched]);
    for (const line of ['addresses', 'slots', 'restored_total'])
      expect(stdout).toContain(`causeway_agent_plane_${line}{proxy="default.client-1"} 1\n`);
  });

  it('tells what it cannot do: in its status, and at its Dataplane', async () => {
    expect((await client.command('status')).text).toMatch(new RegExp(`not obeyed +vip:241\\.\\S+: ${LOST}`));
    const found = await until('the condition', () => conditionOf('client-1', 'Obeyed'));
    expect(found).toMatchObject({ status: 'False', reason: 'PlaneCannot' });
    expect(found.message).toContain(LOST);
  });

  it('has a process at the very address of its Dataplane NotReady in Strict', async () => {
    await setMode('Strict');
    await until('it is refused', async () => String(await dial(`${vip},${PORT}`)) === 'ECONNREFUSED');
    const found = await until('the reason', async () => {
      const one = await conditionOf('echo-1', 'Healthy');
      return one?.reason === 'PlaintextReachable' && !String(one.message).includes('not known yet') && one;
    });
    expect(found.message).toContain(WHERE);
    const { text } = await server.command('status');
    expect(text).toContain(`port ${PORT}, not ready (tcp 10.7.1.2:${PORT}: ${WHERE}`);
    expect(text).toMatch(/plane +direct, failed, inbound 10\.7\.1\.2:8080: callers need an identity/);
    await setMode('Permissive');
    await leads();
    await until('it is ready', async () => (await conditionOf('echo-1', 'Healthy'))?.reason === 'ChecksPass');
  });

  it('leads on while it is killed, and takes over what stands when it starts again', async () => {
    const during = await state();
    await client.end('SIGKILL');
    expect(await state()).toBe(during);
    expect(await dial(`${vip},${PORT}`)).toEqual([ANSWER]);
    await client.start();
    await until('the plane', async () => (await planeOf(client))?.type === 'serving');
    expect(await dial(`${vip},${PORT}`)).toEqual([ANSWER]);
  });

  it('leaves rules and routes as they were: after a stop, and by uninstall after a kill', async () => {
    expect(await state()).not.toBe(before);
    expect(await client.end()).toBe(0);
    expect(await state()).toBe(before);
    await client.start();
    await leads();
    await client.end('SIGKILL');
    expect((await client.command('uninstall')).code).toBe(0);
    expect(await state()).toBe(before);
  });
});
