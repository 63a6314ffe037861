/*
 * A rolling restart of three instances under load fails no request; what fails while the zone’s leader and an ingress
 * are killed is a figure, by `bench/rolling.ts`. Also: test/agent/agent.spec.ts,
 * libs/agent/src/builtin/builtin-plane.spec.ts.
 */
import { randomInt } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { canFilter, NetworkNamespace } from '../support/network-namespace';
import { until } from '../support/until';
import { AgentMesh, type AgentClient, type AgentInstance, type Machine } from './agent-mesh';
import { ended } from './web-service';
import type { At } from './calls';
import { EndpointWatch } from './endpoint-watch';
import { RequestLoad } from './request-load';
import { PORT } from './traffic-mesh';

/** Length of a lease without a heartbeat, ms. */
const LEASE = 5_000;
/** Requests under way: a machine that is slow is not flooded. */
const MOST_OPEN = 50;
const HOSTNAME = 'web.svc.east.mesh.local';
const NAMES = ['web-1', 'web-2', 'web-3'];
/** Names of the endpoints of the service. */
const [IN_EAST, EVERYWHERE] = [`kri_msvc_default_east__web_${PORT}`, `kri_mzsvc_default___everywhere_${PORT}`];

describe('machines with agents in two zones', () => {
  let mesh: AgentMesh;
  let client: AgentClient;
  let instances: readonly AgentInstance[] = [];
  let vip: At;
  /** A machine in a network namespace, if one can be made, and its cable. */
  let far: { readonly namespace: NetworkNamespace; readonly machine: Machine } | undefined;
  const watches: EndpointWatch[] = [];
  const placeOf = ({ at }: Pick<AgentInstance, 'at'>): string => `${at.address}:${at.port}`;
  const firstOf = (all: readonly AgentInstance[]): AgentInstance => {
    const [first] = all;
    if (!first) throw new Error('no instance');
    return first;
  };

  beforeAll(async () => {
    if (canFilter) {
      const namespace = await NetworkNamespace.create();
      const net = `10.${randomInt(64, 250)}.${randomInt(1, 250)}`;
      await namespace.connectHere(`${net}.1/24`, `${net}.2/24`);
      const enter = ['nsenter', ...namespace.enter];
      const machine = { address: `${net}.2`, gateway: `${net}.1`, loopback: '127.0.0.1', enter };
      far = { namespace, machine };
    }
    // It reaches a port beyond loopback, which is served with TLS.
    const beyond = canFilter ? { CAUSEWAY_XDS_BIND_ADDRESS: '0.0.0.0' } : { CAUSEWAY_XDS_TLS: 'on' };
    mesh = await AgentMesh.start({ zone: { CAUSEWAY_AGENT_LEASE: `${LEASE}ms`, ...beyond } });
    [client, instances] = await Promise.all([
      mesh.client('west'),
      Promise.all(NAMES.map((name) => mesh.instance('east', 'web', name))),
    ]);
    vip = await mesh.traffic.vip('west', 'web', 'east');
    const load = new RequestLoad(vip, { rate: 20, fresh: 20, mostOpen: MOST_OPEN });
    await until('answers of all', () => Object.keys(load.outcome.answers).length === NAMES.length);
    await load.stop();
  });
  afterAll(async () => {
    await Promise.all(watches.map((watch) => watch.close()));
    await mesh?.stop();
    await far?.namespace.close();
  });

  /** Returns the identity and time of an instance's registration: another one after a withdrawal. */
  const registrationOf = async (name: string): Promise<unknown> =>
    (await mesh.traffic.zone('east').get(`/meshes/default/dataplanes/${name}`))?.['creationTime'];
  const resolved = async (): Promise<readonly string[]> => {
    const resolver = new Resolver({ timeout: 5_000 });
    resolver.setServers([`${client.dns.address}:${client.dns.port}`]);
    return resolver.resolve4(HOSTNAME).catch(() => []);
  };
  const answered = (load: RequestLoad, count: number): Promise<unknown> =>
    until(`${count} answers`, () => load.outcome.times.length >= count);

  it('are restarted one after the other under load, and no request fails', async () => {
    const load = new RequestLoad(vip, { rate: 60, fresh: 10, mostOpen: MOST_OPEN });
    await answered(load, 60);
    for (const one of instances) await mesh.restart(one);
    await answered(load, load.outcome.requests + 60);
    const { failures, answers } = await load.stop();
    expect(failures).toEqual([]);
    expect(Object.keys(answers).sort()).toEqual(NAMES);
  });

  it('a process that is killed is not ready, and out of the endpoints of both zones', async () => {
    const spec = {
      selector: { meshService: { matchLabels: { 'kuma.io/display-name': 'lone' } } },
      ports: [{ port: PORT, appProtocol: 'http' }],
    };
    await mesh.traffic.put(mesh.traffic.mesh.global, 'MeshMultiZoneService', 'everywhere', spec);
    const ofLone = IN_EAST.replace('web', 'lone');
    const [lone, east, west] = await Promise.all([
      mesh.instance('east', 'lone', 'lone-1'),
      EndpointWatch.open(mesh.traffic, 'east', [ofLone]),
      EndpointWatch.open(mesh.traffic, 'west', [EVERYWHERE]),
    ]);
    watches.push(east, west);
    const ingress = mesh.traffic.ingressAt('east');
    const places = [east.when.bind(east, ofLone), west.when.bind(west, EVERYWHERE)] as const;
    const wanted = [placeOf(lone), placeOf({ at: ingress })] as const;
    await Promise.all(places.map((when, n) => when((serving) => serving.has(wanted[n] ?? ''))));
    await ended(lone.process, 'SIGKILL');
    await Promise.all(places.map((when) => when((serving) => serving.size === 0)));
    expect(await mesh.stateOf(lone)).toBe('NotReady');
    await mesh.restartProcess(lone);
    await Promise.all(places.map((when, n) => when((serving) => serving.has(wanted[n] ?? ''))));
  });

  it('reach what they reached, by name and virtual IP, with every control plane dead, over a restart of the agent', async () => {
    expect(await until('the name', async () => (await resolved()).length > 0 && resolved())).toEqual([vip.address]);
    const before = await Promise.all(NAMES.map(registrationOf));
    expect(before).not.toContain(undefined);
    const load = new RequestLoad(vip, { rate: 20, fresh: 10, mostOpen: MOST_OPEN });
    await answered(load, 10);
    const { traffic } = mesh;
    await Promise.all([traffic.mesh.global.kill(), traffic.crash('east'), traffic.crash('west')]);
    const killed = performance.now();
    await answered(load, load.outcome.requests + 20);
    expect(await resolved()).toEqual([vip.address]);
    expect((await load.stop()).failures).toEqual([]);

    await client.agent.end('SIGKILL');
    await client.agent.start();
    expect(await until('the name', async () => (await resolved()).length > 0 && resolved())).toEqual([vip.address]);
    const after = new RequestLoad(vip, { rate: 20, fresh: 10, mostOpen: MOST_OPEN });
    await answered(after, 20);
    // The endpoints must outlive two lengths of a lease.
    await pause(Math.max(0, killed + 2 * LEASE - performance.now()));
    expect((await after.stop()).failures).toEqual([]);

    await Promise.all([traffic.mesh.startGlobal(), traffic.recover('east'), traffic.recover('west')]);
    for (const { agent, name } of instances)
      await until(`the lease of ${name}`, async () => (await agent.status())?.proxies[0]?.lease?.type === 'held');
    // After the first end of a lease, below, the same is asked again.
    expect(await Promise.all(NAMES.map(registrationOf))).toEqual(before);
  });

  it('go with their lease where the agent is killed, or the machine is gone without a word, and no other goes', async () => {
    const others = NAMES.slice(1);
    const before = await Promise.all(others.map(registrationOf));
    expect(before).not.toContain(undefined);
    const gone = [firstOf(instances)];
    // Only if a network namespace can be made.
    if (far) gone.push(await mesh.instance('east', 'far', 'far-1', far));
    far?.namespace.cut();
    await gone[0]?.agent.end('SIGKILL');
    for (const { name } of gone) await until(`${name} is gone`, async () => (await registrationOf(name)) === undefined);
    expect(gone[1]?.agent.isRunning).toBe(far && true);
    expect(await Promise.all(others.map(registrationOf))).toEqual(before);
    await gone[0]?.agent.start();
    await mesh.untilReady(firstOf(gone));
  });
});
