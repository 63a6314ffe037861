import { describeWhere } from '../dns/programs';
import type { ParsedJson } from '../rest/rest-fixture';
import { AgentMachines } from '../support/agent-machines';
import type { AgentProcess } from '../support/agent-process';
import { dialFrom, serveIn } from '../support/namespace-programs';
import { canFilter } from '../support/network-namespace';
import { until } from '../support/until';

/** More addresses than a builtin plane listens at: services with several ports each. */
const [SERVICES, PORTS] = [105, 20];
const PORT = 8_000;
const DNS_PORT = 5_300;

describeWhere(
  'packet filters',
  canFilter,
  'root, nftables, iproute2',
)('the builtin plane under `redirect` in a mesh with more addresses than it binds', () => {
  let machines: AgentMachines;
  let agent: AgentProcess;
  const vips = new Map<string, string>();
  const vip = (name: string): string => vips.get(name) ?? '';
  const dial = async (...addresses: readonly string[]): Promise<{ said: readonly string[]; took: number }> => {
    const begun = Date.now();
    const said = (await dialFrom(machines.here, ...addresses)) as readonly string[];
    return { said, took: Date.now() - begun };
  };
  const resolve = async (name: string): Promise<string> => {
    const args = ['@127.0.0.1', '-p', String(DNS_PORT), '+short', '+tries=1', name];
    return (await machines.here.run('dig', args)).trim();
  };
  const serving = (): Promise<unknown> =>
    until('the proxy serves, with a lease', async () => {
      const [proxy] = (await agent.status())?.proxies ?? [];
      return proxy?.controlPlane.type === 'connected' && proxy.plane.type === 'serving' && proxy.lease?.type === 'held';
    });
  const service = (name: string, ports: number): Promise<unknown> =>
    machines.zone.put(`/meshes/default/meshservices/${name}`, {
      type: 'MeshService',
      mesh: 'default',
      name,
      spec: {
        selector: { dataplaneTags: { 'kuma.io/service': name } },
        ports: Array.from({ length: ports }, (_, i) => ({ port: PORT + i, targetPort: 7_000, appProtocol: 'tcp' })),
      },
    });

  beforeAll(async () => {
    machines = await AgentMachines.start({ CAUSEWAY_VIP_RANGE_MESHSERVICE: '244.7.0.0/16' });
    const { here, there } = machines;
    await serveIn(there, '127.0.0.1,7000,echo');
    // A process of this host that listens everywhere does not answer at virtual IPs.
    await serveIn(here, '0.0.0.0,2200,process');
    const services = [{ name: 'echo', port: PORT, servicePort: 7_000 }];
    const dataplanes = [{ name: 'server-1', address: '10.7.1.2', services }];
    const server = await machines.agent(there, 'server-1', { plane: 'builtin', dataplanes });
    await server.start();
    for (let i = 0; i < SERVICES; i += 15)
      await Promise.all(Array.from({ length: 15 }, (_, k) => service(`other-${i + k}`, PORTS)));
    for (const name of ['echo', ...Array.from({ length: SERVICES }, (_, i) => `other-${i}`)]) {
      const found = await until(`the address of ${name}`, async () => {
        const { status } = ((await machines.get(`/meshes/default/meshservices/${name}`)) ?? {}) as ParsedJson;
        return (status?.vip?.ip as string | undefined) ?? false;
      });
      vips.set(name, found);
    }
    const config = {
      plane: 'builtin',
      capture: 'redirect',
      dns: { port: DNS_PORT },
      dataplanes: [{ name: 'client-1', address: '10.7.1.1' }],
    };
    agent = await machines.agent(here, 'client-1', config);
    await agent.start();
  });
  afterAll(() => machines?.close());

  it('is connected, and holds no address that nobody used', async () => {
    await serving();
    expect((await agent.status())?.proxies[0]).toMatchObject({ onDemand: { bound: 0, max: 2_000 } });
  });

  it('listens at an address before its name is answered, so that the first connection waits for nothing', async () => {
    await until('the name', async () => (await resolve('echo.svc.mesh.local')) === vip('echo'));
    // The dialler runs before its time counts.
    await dial('127.0.0.1,2200');
    const { said, took } = await dial(`${vip('echo')},${PORT}`);
    expect(said).toEqual(['echo to 127.0.0.1']);
    // The kernel would send a dropped packet again after a second.
    expect(took).toBeLessThan(950);
  });

  it('takes the second attempt at an address that was dialled without a name, and refuses what no service has', async () => {
    const { said, took } = await dial(`${vip('other-7')},${PORT + 3}`, '244.7.250.250,80', '244.7.250.250,2200');
    // The service has no instance: its connection is accepted and ended.
    expect(said).toEqual(['ECONNRESET', 'ECONNREFUSED', 'ECONNREFUSED']);
    expect(took).toBeLessThan(3_000);
    expect((await dial('244.7.250.250,80')).took).toBeLessThan(500);
  });

  it('takes hundreds of addresses that are dialled at once', async () => {
    const all = Array.from({ length: 300 }, (_, i) => `${vip(`other-${Math.floor(i / PORTS)}`)},${PORT + (i % PORTS)}`);
    for (let from = 0; from < all.length; from += 150) {
      const { said } = await dial(...all.slice(from, from + 150));
      expect(said).toEqual(Array(said.length).fill('ECONNRESET'));
    }
    expect((await agent.status())?.proxies[0]?.onDemand?.bound).toBeGreaterThanOrEqual(301);
  });

  it('listens after a kill and a start where it did before', async () => {
    await dial(`${vip('echo')},${PORT}`);
    await agent.end('SIGKILL');
    await agent.start();
    await until('the service', async () => (await dial(`${vip('echo')},${PORT}`)).said[0] === 'echo to 127.0.0.1');
    await until('all', async () => ((await agent.status())?.proxies[0]?.onDemand?.bound ?? 0) > 300);
  });
});
