/*
 * Names and virtual IPs that were used work with every control plane dead, over a restart of the agent; for 10
 * minutes by `bench/without-control-planes.ts`. Also: test/agent/agent.spec.ts,
 * libs/agent/src/names/agent-names.spec.ts, test/traffic/agents.long.spec.ts.
 */
import { randomInt } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Resolver } from 'node:dns/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatJoinBundle } from '@causeway/identity';
import { parse } from 'yaml';
import { freePort } from '../../scripts/lib/ports.mjs';
import { AgentProcess } from '../support/agent-process';
import { ENVOY } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { ask, httpService, type ServiceProcess } from '../support/mesh-processes';
import { canFilter, NetworkNamespace } from '../support/network-namespace';
import { ProcessMesh } from '../support/process-mesh';
import { PROXY_KINDS, type ProxyKind } from '../support/traffic-plane';
import { until } from '../support/until';

const host = loopbackBlock();
const number = (kind: ProxyKind): number => PROXY_KINDS.indexOf(kind) + 1;
const PORT = 8080;
/** Skipped without network namespaces. */
const itInNetwork = canFilter ? it : it.skip;
const envoy = { ...(ENVOY !== undefined && { path: ENVOY }), concurrency: 1 };
/** All virtual IPs of west are this machine's; below those of its other machines. */
const RANGES = {
  CAUSEWAY_VIP_RANGE_MESHSERVICE: `${host(0)}/26`,
  CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE: `${host(64)}/27`,
  CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE: `${host(96)}/27`,
};

interface DataplaneFields {
  readonly name: string;
  readonly address: string;
  readonly services?: readonly { readonly name: string }[];
  readonly [field: string]: unknown;
}

interface Found {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly status?: { readonly vip?: { readonly ip: string }; readonly addresses?: readonly { hostname: string }[] };
}

/** A client in west, an ingress of east and a process in east, each by the program `causeway-agent`. */
describe('agents of two zones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cwz-'));
  const agents = new Map<string, AgentProcess>();
  const services: ServiceProcess[] = [];
  const ports = { dns: 0, metrics: 0 };
  const network = `10.${100 + randomInt(100)}.${randomInt(256)}`;
  let machine: NetworkNamespace | undefined;
  let mesh: ProcessMesh;
  const agent = (name: string): AgentProcess => {
    const found = agents.get(name);
    if (!found) throw new Error(`no agent ${name} runs`);
    return found;
  };

  /** Returns the output of `causeway tokens … --bundle`, as a file. */
  async function bundle(zone: string, name: string, token: string): Promise<string> {
    const file = join(folder, `${name}.bundle`);
    const authority = await mesh.zone(zone).text('/rest/ca');
    const port = mesh.zone(zone).xdsAddress.split(':').at(-1);
    const place = {
      controlPlanes: ['127.0.0.1', `${network}.1`].map((at) => `${at}:${port}`),
      zone,
      mesh: 'default',
      authority,
    };
    writeFileSync(file, formatJoinBundle({ ...place, token }), { mode: 0o600 });
    return file;
  }
  async function start(zone: string, name: string, config: object, token: string): Promise<void> {
    const shared = { bundle: await bundle(zone, name, token), envoy, drainTime: '1s' };
    const one = new AgentProcess(join(folder, name), { ...shared, ...config });
    agents.set(name, one);
    await one.start();
  }
  async function startDataplane(zone: string, dataplane: DataplaneFields, config: object): Promise<void> {
    const services = (dataplane.services ?? []).map(({ name }) => name);
    const order = { mesh: 'default', name: dataplane.name, services, validFor: '1h' };
    // The leader makes the key that signs it.
    const issued = (): Promise<string | undefined> =>
      mesh
        .zone(zone)
        .text('/tokens/dataplane', order)
        .catch(() => undefined);
    const token = await until('a token', issued);
    await start(zone, dataplane.name, { ...config, dataplanes: [dataplane] }, token);
  }
  async function startIngress(kind: ProxyKind): Promise<void> {
    const name = `ingress-${kind}`;
    const networking = { address: host(200 + number(kind)), port: 10_001 };
    await mesh.zone('east').put(`/zoneingresses/${name}`, { type: 'ZoneIngress', name, networking });
    const token = await mesh.global.text('/tokens/zone', { zone: 'east', scope: ['ingress'], validFor: '1h' });
    const metrics = { address: networking.address, port: ports.metrics };
    await start('east', name, { plane: kind, ingress: { name }, metrics }, token);
  }
  /** An agent listens there once its proxy has been started. */
  const metricsAt = (url: string): Promise<string> =>
    until('metrics', () =>
      fetch(url).then(
        (answer) => answer.text(),
        () => undefined,
      ),
    );
  /** Connections that an ingress has taken so far. */
  async function entered(kind: ProxyKind): Promise<number> {
    const text = await metricsAt(`http://${host(200 + number(kind))}:${ports.metrics}/metrics`);
    const lines = text.split('\n').filter((line) => /downstream_cx_total\{.*"ingress"/.test(line));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }
  /** From now on other zones enter east by this ingress. */
  const enterBy = (kind: ProxyKind): Promise<number> =>
    mesh.zone('east').put('/meshes/default/meshzoneaddresses/in', {
      type: 'MeshZoneAddress',
      mesh: 'default',
      name: 'in',
      spec: { address: host(200 + number(kind)), port: 10_001 },
    });
  /** A service of east as west knows it. */
  async function seen(service: string): Promise<{ readonly ip: string; readonly hostname: string }> {
    return until(`${service} has an address in west`, async () => {
      const { items } = (await mesh.zone('west').get('/meshes/default/meshservices?size=100')) as { items: Found[] };
      const found = items.find(({ name, labels }) => name === service && labels['kuma.io/zone'] === 'east');
      const [ip, hostname] = [found?.status?.vip?.ip, found?.status?.addresses?.[0]?.hostname];
      return ip !== undefined && hostname !== undefined && { ip, hostname };
    });
  }
  const leaseOf = async (one: AgentProcess) => (await one.status())?.proxies[0]?.lease;
  /** Of a Dataplane, as east has it. */
  async function addressOf(name: string): Promise<string | undefined> {
    const found = await mesh.zone('east').get(`/meshes/default/dataplanes/${name}`);
    return (found as { spec: { networking: { address: string } } } | undefined)?.spec.networking.address;
  }
  const resolved = async (hostname: string): Promise<string | undefined> => {
    const resolver = new Resolver({ timeout: 5_000, tries: 1 });
    resolver.setServers([`127.0.0.1:${ports.dns}`]);
    return (await resolver.resolve4(hostname).catch(() => []))[0];
  };
  /** The address at which a client finds the service of a server: by the outbounds of Envoy, by its virtual IP otherwise. */
  const placeOf = async (client: ProxyKind, server: ProxyKind): Promise<readonly [string, number]> =>
    client === 'envoy' ? [host(210), PORT + number(server)] : [(await seen(`web-${server}`)).ip, PORT];

  beforeAll(async () => {
    mesh = new ProcessMesh();
    await mesh.startGlobal();
    machine = canFilter ? await NetworkNamespace.create() : undefined;
    // Before the certificate of the zone is made, which names the addresses of the machine.
    await machine?.connectHere(`${network}.1/24`, `${network}.2/24`);
    const tls = { CAUSEWAY_XDS_TLS: 'on', CAUSEWAY_XDS_BIND_ADDRESS: '0.0.0.0' };
    await Promise.all([mesh.startZone('east', tls), mesh.startZone('west', { ...tls, ...RANGES })]);
    for (const port of ['dns', 'metrics'] as const) ports[port] = await freePort();
    const servers = PROXY_KINDS.map(async (kind) => {
      const address = host(220 + number(kind));
      const service = await httpService(`web by ${kind}`, address);
      services.push(service);
      const check = { health: { http: { path: '/' }, interval: '500ms' } };
      const web = { name: `web-${kind}`, port: PORT, servicePort: service.port, serviceAddress: address, ...check };
      const dataplane = { name: `server-${kind}`, address, services: [{ ...web, protocol: 'http' }] };
      const metrics = { metrics: { address, port: ports.metrics } };
      await Promise.all([startDataplane('east', dataplane, { plane: kind, ...metrics }), startIngress(kind)]);
    });
    const outbounds = PROXY_KINDS.map((kind) => ({
      address: host(210),
      port: PORT + number(kind),
      backend: { labels: { 'kuma.io/display-name': `web-${kind}`, 'kuma.io/zone': 'east' }, port: PORT },
    }));
    const dns = { capture: 'bind', dns: { port: ports.dns } };
    const bound: DataplaneFields = { name: 'client-builtin', address: host(211) };
    const explicit: DataplaneFields = { name: 'client-envoy', address: host(210), outbounds };
    const begun = [...servers, startDataplane('west', bound, { plane: 'builtin', ...dns })];
    if (ENVOY !== undefined) begun.push(startDataplane('west', explicit, {}));
    await Promise.all(begun);
  });
  afterAll(async () => {
    await Promise.all([...agents.values()].map((one) => one.end()));
    const left = [...agents.values()].filter((one) => existsSync(one.state));
    await Promise.all(left.map((one) => one.command('uninstall')));
    await machine?.close();
    await mesh?.stop();
    await Promise.all(services.map((one) => one.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  describe.each(PROXY_KINDS)('with an ingress of %s', (ingress) => {
    beforeAll(() => enterBy(ingress));

    it.each(PROXY_KINDS.flatMap((client) => PROXY_KINDS.map((server) => [client, server] as const)))(
      '%s in west reaches a process in east behind %s',
      async (client, server) => {
        const [address, port] = await placeOf(client, server);
        const before = await entered(ingress);
        const answers = async (): Promise<boolean> => (await ask(address, port)).name === `web by ${server}`;
        await until('an answer', answers);
        await until('it enters there', async () => (await answers()) && (await entered(ingress)) > before);
      },
    );
  });

  it('tell Prometheus where their metrics are', async () => {
    const list = await mesh.zone('east').text('/discovery/prometheus?service=causeway-agent');
    const targets = JSON.parse(list) as { targets: [string]; labels: Record<string, string> }[];
    expect(targets.map(({ labels }) => labels['instance'])).toEqual(
      PROXY_KINDS.map((kind) => `server-${kind}`)
        .sort()
        .reverse(),
    );
    for (const {
      targets: [at],
      labels,
    } of targets) {
      expect(await metricsAt(`http://${at}${labels['__metrics_path__']}`)).toContain(
        `causeway_agent_connected{proxy="default.${labels['instance']}"} 1`,
      );
    }
  });

  itInNetwork('refuse a machine that was copied with its state', async () => {
    const [first, copy] = [agent('server-builtin'), join(folder, 'copy')];
    cpSync(first.folder, copy, { recursive: true, filter: (file) => !statSync(file).isSocket() });
    const config = parse(readFileSync(first.file, 'utf8')) as object;
    const clone = new AgentProcess(copy, config, ['nsenter', ...(machine?.enter ?? [])]);
    await clone.start();
    const refused = await until('it is refused', async () => {
      const now = await leaseOf(clone);
      return now?.type === 'other' && now;
    });
    // The holder reaches its zone at either address of the bundle, the copy from another one.
    expect(['at 127.0.0.1,', `at ${network}.1,`].some((holder) => refused.reason?.includes(holder))).toBe(true);
    expect(await leaseOf(first)).toMatchObject({ type: 'held' });
    await clone.end();
    expect(await leaseOf(first)).toMatchObject({ type: 'held' });
    await until('its address', async () => (await addressOf('server-builtin')) === host(220 + number('builtin')));
  });

  it('refuse a second machine with the same name', async () => {
    const first = agent('server-builtin');
    const second = new AgentProcess(join(folder, 'second'), {
      bundle: join(folder, 'server-builtin.bundle'),
      plane: 'builtin',
      drainTime: '1s',
      dataplanes: [{ name: 'server-builtin', address: host(230) }],
    });
    await second.start();
    const refused = await until('it is refused', async () => {
      const now = await leaseOf(second);
      return now?.type === 'other' && now;
    });
    expect(refused.reason).toMatch(/another agent|machine/);
    expect(await leaseOf(first)).toMatchObject({ type: 'held' });
    expect((await second.command('status')).text).toMatch(/lease +other: /);
    await second.end();
    expect(await addressOf('server-builtin')).toBe(host(220 + number('builtin')));
    const [address, port] = await placeOf('builtin', 'builtin');
    expect((await ask(address, port)).name).toBe('web by builtin');
  });

  it('answer names, and carry what was carried, with every control plane dead, over a restart of the agent', async () => {
    const [last = 'builtin'] = PROXY_KINDS.slice(-1);
    const { ip, hostname } = await seen(`web-${last}`);
    const works = async (): Promise<boolean> =>
      (await resolved(hostname)) === ip && (await ask(ip, PORT)).name === `web by ${last}`;
    await until('the name', works);
    const pid = (await agent('client-builtin').status())?.pid ?? 0;
    // As `systemctl reload` does.
    process.kill(pid, 'SIGHUP');
    await Promise.all([mesh.global, mesh.zone('east'), mesh.zone('west')].map((plane) => plane.kill()));
    await until('the name, without control planes', works);
    expect((await agent('client-builtin').status())?.pid).toBe(pid);
    const client = agent('client-builtin');
    // The bundle with which it joined is gone as well.
    rmSync(join(folder, 'client-builtin.bundle'));
    await client.end('SIGKILL');
    await client.start();
    await until('the name, after a restart', works);
    const status = await client.status();
    expect(status?.zone.problem).toMatch(/^bundle: there is no file /);
    expect(status?.proxies[0]?.controlPlane.type).toBe('connecting');
  });

  it('do not start with a bundle that is missing where nothing is kept', async () => {
    const config = { bundle: join(folder, 'no.bundle'), dataplanes: [{ name: 'none', address: host(230) }] };
    const none = new AgentProcess(join(folder, 'none'), config);
    expect(await none.command('run', '-f', none.file)).toEqual({
      code: 1,
      text: expect.stringContaining(`causeway-agent: bundle: there is no file ${config.bundle}; `) as string,
    });
  });
});
