import { utimesSync } from 'node:fs';
import { describeWhere } from '../dns/programs';
import type { ParsedJson } from '../rest/rest-fixture';
import { AgentMachines } from '../support/agent-machines';
import type { AgentProcess } from '../support/agent-process';
import { ENVOY } from '../support/envoy-process';
import { dialFrom, serveIn } from '../support/namespace-programs';
import { canFilter } from '../support/network-namespace';
import { until } from '../support/until';

/** Other ranges than an agent takes without its zone's word; services outside the mesh have IPv6 addresses. */
const RANGES = {
  CAUSEWAY_VIP_RANGE_MESHSERVICE: '244.7.0.0/16',
  CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE: 'fd00:fd::/112',
};
const PORT = 8_000;

describeWhere(
  'packet filters and Envoy',
  canFilter && ENVOY !== undefined,
  'root, nftables, iproute2, CAUSEWAY_ENVOY',
)('causeway-agent run with capture `redirect`, in a network namespace', () => {
  let machines: AgentMachines;
  /** The virtual IPs of a service of the mesh and of one outside, the latter of IPv6. */
  let vips: readonly [string, string];
  let before = '';
  const answers = ['echo to 127.0.0.1', 'outside to 10.7.1.2'];
  const state = (): Promise<string> => machines.here.state();
  const dial = (...addresses: readonly string[]): Promise<unknown> => dialFrom(machines.here, ...addresses);
  const vipOf = (path: string): Promise<string> =>
    until(`the address of ${path}`, async () => {
      const { vip, vips = [vip] } = ((await machines.get(path)) as ParsedJson)?.status ?? {};
      return (vips[0]?.ip as string | undefined) ?? false;
    });
  const reaches = (): Promise<unknown> =>
    until('the service at both addresses', async () => {
      const all = await dial(`${vips[0]},${PORT}`, `${vips[1]},${PORT}`);
      return JSON.stringify(all) === JSON.stringify(answers);
    });

  beforeAll(async () => {
    machines = await AgentMachines.start(RANGES);
    const { here, there } = machines;
    await serveIn(there, '127.0.0.1,7000,echo', '10.7.1.2,7001,outside');
    // A process of this host outside the mesh, and rules of another program.
    await serveIn(here, '0.0.0.0,2200,process');
    await here.run('nft', ['-f', '-'], 'table inet other { chain c { tcp dport 1 drop; }; }\n');
    const services = [{ name: 'echo', port: PORT, servicePort: 7_000, health: { tcp: {}, interval: '250ms' } }];
    const dataplanes = [{ name: 'echo-1', address: '10.7.1.2', services }];
    const server = await machines.agent(there, 'echo-1', { plane: 'builtin', dataplanes });
    await server.start();
    await machines.zone.put('/meshes/default/meshexternalservices/outside', {
      type: 'MeshExternalService',
      mesh: 'default',
      name: 'outside',
      spec: { match: { port: PORT }, endpoints: [{ address: '10.7.1.2', port: 7_001 }] },
    });
    vips = [
      await vipOf('/meshes/default/meshservices/echo'),
      await vipOf('/meshes/default/meshexternalservices/outside'),
    ];
    before = await state();
  });
  afterAll(() => machines?.close());

  describe.each(['builtin', 'envoy'])('plane %s', (plane) => {
    let agent: AgentProcess;
    beforeAll(async () => {
      const envoy = plane === 'envoy' && { envoy: { path: ENVOY, concurrency: 1 } };
      const name = `${plane}-1`;
      const config = { plane, ...envoy, capture: 'redirect', dataplanes: [{ name, address: '10.7.1.1' }] };
      agent = await machines.agent(machines.here, name, config);
      await agent.start();
    });
    afterAll(() => agent?.end());

    it('reaches virtual IPs of both families, refuses others at once, and touches nothing else', async () => {
      if (plane === 'builtin') {
        const failures = async (): Promise<unknown> => (await agent.status())?.configuration.failures;
        await until('what cannot be caught', async () => String(await failures()).includes('ip_nonlocal_bind=1'));
        await machines.here.run('sysctl', ['-qw', 'net.ipv6.ip_nonlocal_bind=1']);
        utimesSync(agent.file, new Date(), new Date());
        await until('it can', async () => String(await failures()) === '');
      }
      await reaches();
      expect((await agent.status())?.network?.capture?.ranges).toEqual(
        expect.arrayContaining(['244.7.0.0/16', 'fd00:fd::/112']),
      );
      expect(await dial('244.7.9.9,80', 'fd00:fd::99,80', `${vips[0]},${PORT + 1}`, '127.0.0.1,2200')).toEqual([
        // Envoy accepts the connection before it knows its destination, and ends it.
        ...new Array<string>(3).fill(plane === 'envoy' ? '' : 'ECONNREFUSED'),
        'process to 127.0.0.1',
      ]);
    });

    it('puts back rules and routes that somebody removes, counts that and says it', async () => {
      const during = await state();
      const times = async (): Promise<number> => (await agent.status())?.network?.restored ?? 0;
      await machines.here.run('nft', ['delete', 'table', 'inet', 'causeway']);
      await until('the rules are back', async () => (await times()) === 1);
      expect(await state()).toBe(during);
      await machines.here.run('ip', ['route', 'flush', 'table', 'all', 'proto', '199']);
      await until('the routes are back', async () => (await times()) === 2);
      expect(await state()).toBe(during);
      await reaches();
      await until('it is said', () => agent.log.includes('somebody has removed or changed rules or routes'));
      expect((await agent.command('status')).text).toMatch(/put back 2 times, last \w+ ago/);
    });

    it('leaves rules and routes as they were: stopped, killed and started again, killed and uninstalled', async () => {
      const during = await state();
      await agent.end();
      expect(await state()).toBe(before);
      await agent.start();
      await reaches();
      await agent.end('SIGKILL');
      expect(await state()).toBe(during);
      await agent.start();
      await reaches();
      await agent.end();
      expect(await state()).toBe(before);
      await agent.start();
      await until('the rules', async () => (await state()) === during);
      await agent.end('SIGKILL');
      expect((await agent.command('uninstall')).text).toBe(`removed ${agent.state}\n`);
      expect(await state()).toBe(before);
    });
  });
});
