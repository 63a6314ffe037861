import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentProcess } from '../support/agent-process';
import { until } from '../support/until';
import { ENVOY } from '../support/envoy-process';
import { RequestLoad } from '../traffic/request-load';
import { ended, PROCESS_PORT, startService } from '../traffic/web-service';
import type { Findings } from './findings';
import type { MixedMesh, ZoneName } from './mixed-mesh';
import type { Version } from './version-tree';

const PORT = 6_379;
const INGRESS_PORT = 10_001;
const RATE = { rate: 50, fresh: 10 };
const WEB = ['web-1', 'web-2'] as const;
const DEFAULT_IDENTITY = {
  type: 'MeshIdentity',
  mesh: 'default',
  name: 'default',
  spec: { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled' } },
};

/** Kinds of proxies that carry the traffic. */
export const PLANES = ['builtin', 'envoy'] as const;
export type MachinesPlane = (typeof PLANES)[number];

/**
 * A service with two instances and an ingress in east, called from west, all by agents with the same plane, each of the old or the new
 * version; and the requests of a client, none of which may fail while control planes are replaced.
 */
export class Machines {
  private readonly folder = mkdtempSync(join(tmpdir(), 'cwu-'));
  private readonly agents = new Map<string, AgentProcess>();
  private readonly processes: ChildProcess[] = [];
  private load: RequestLoad | undefined;
  private vip = '';

  private constructor(
    private readonly mesh: MixedMesh,
    private readonly findings: Findings,
    private readonly plane: MachinesPlane,
  ) {}

  /** Starts all of it in this version; resolves when a request gets through. */
  static async start(
    mesh: MixedMesh,
    { version, plane }: { readonly version: Version; readonly plane: MachinesPlane },
    findings: Findings,
  ): Promise<Machines> {
    const machines = new Machines(mesh, findings, plane);
    try {
      await put(mesh, 'global', '/meshes/default/meshidentities/default', DEFAULT_IDENTITY);
      for (const name of WEB) await machines.startWeb(name, version);
      await machines.startIngress(version);
      await machines.startClient(version);
      await machines.resume();
    } catch (error) {
      await machines.stop();
      throw error;
    }
    return machines;
  }

  /** Replaces the agents one by one: those of the service while it is called, then the ingress and that of the client. */
  async replaceAll(version: Version): Promise<void> {
    for (const name of WEB) await this.replace(name, version);
    await this.pause();
    for (const name of ['ingress', 'client']) await this.replace(name, version);
    await this.resume();
  }

  /** Ends the requests; each that has failed is a promise broken. */
  async pause(): Promise<void> {
    const outcome = await this.load?.stop();
    this.load = undefined;
    if (!outcome) return;
    this.findings.count('requests', outcome.requests);
    for (const { reason } of outcome.failures) this.findings.broken(`a request failed: ${reason}`);
  }

  /** Each old token is named in its zone as what goes on only because it was there before (docs/reference/enrolments.md). */
  async checkOldCredentials(): Promise<void> {
    for (const [zone, names] of [
      ['east', WEB],
      ['west', ['client']],
    ] as const) {
      const unnamed = async (): Promise<readonly string[]> => {
        const found = await this.mesh.zone(zone).any(0).get('/_workloads?size=1000');
        const items = (found?.['items'] ?? []) as readonly { readonly name: string; readonly by: string }[];
        return names.filter((name) => !items.some((one) => one.name === name && one.by === 'upgrade'));
      };
      await until(`${zone} names its old credentials`, async () => (await unnamed()).length === 0).catch(async () =>
        this.findings.broken(`${zone} does not name the old credentials of ${(await unnamed()).join(', ')}`),
      );
      this.findings.count('old_credentials_named', names.length);
    }
  }

  async stop(): Promise<void> {
    await this.load?.stop();
    // An Envoy outlives an agent that is killed.
    const signal = this.plane === 'envoy' ? 'SIGTERM' : 'SIGKILL';
    await Promise.all([...this.agents.values()].map((agent) => agent.end(signal)));
    await Promise.all(this.processes.map((process) => ended(process, 'SIGKILL')));
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Requests go on, once the first is answered. */
  private async resume(): Promise<void> {
    this.vip = await until('web has an address in west', async () => {
      const found = await this.mesh.zone('west').any(0).get('/meshes/default/meshservices/web?zone=east');
      const { vip, vips = [] } = (found?.['status'] ?? {}) as {
        vip?: { ip: string };
        vips?: readonly { ip: string }[];
      };
      return vip?.ip ?? vips[0]?.ip;
    });
    const at = { address: this.vip, port: PORT };
    const warm = new RequestLoad(at, { rate: 20, fresh: 20 });
    // An Envoy keeps its connection to the ingress of the other zone, which leads to one instance.
    const wanted = this.plane === 'envoy' ? 1 : WEB.length;
    await until('the instances answer', () => Object.keys(warm.outcome.answers).length >= wanted);
    await warm.stop();
    this.load = new RequestLoad(at, RATE);
  }

  private async replace(name: string, version: Version): Promise<void> {
    const agent = this.agents.get(name);
    if (!agent) throw new Error(`no agent ${name}`);
    const { code, text } = await agent.command('drain');
    if (code !== 0) this.findings.broken(`the drain of ${name} ended with ${code}: ${text}`);
    agent.root = version.root;
    await agent.start();
    await this.untilServing(name, agent);
    this.findings.count('agents_replaced');
  }

  private async startWeb(name: string, version: Version): Promise<void> {
    const address = this.mesh.machine();
    this.processes.push(await startService(name, { loopback: address }));
    const place = { name: 'web', port: PORT, servicePort: PROCESS_PORT, serviceAddress: address, protocol: 'http' };
    const health = { http: { path: '/healthz' }, interval: '250ms', timeout: '2s', unhealthyThreshold: 1 };
    const labels = { 'kuma.io/workload': 'web' };
    const dataplane = { name, address, labels, services: [{ ...place, health }] };
    const token = await this.token('east', { name, workload: 'web' });
    await this.startAgent(name, version, { ...this.reach('east', name, token), dataplanes: [dataplane] });
  }

  private async startIngress(version: Version): Promise<void> {
    const spec = { address: this.mesh.machine(), port: INGRESS_PORT };
    await put(this.mesh, 'east', '/zoneingresses/ingress', {
      type: 'ZoneIngress',
      name: 'ingress',
      spec: { networking: spec },
    });
    const place = { type: 'MeshZoneAddress', mesh: 'default', name: 'ingress', spec };
    await put(this.mesh, 'east', '/meshes/default/meshzoneaddresses/ingress', place);
    const asked = { zone: 'east', scope: ['ingress'], validFor: '24h' };
    const token = await this.mesh.global.any(0).text('/tokens/zone', asked);
    const config = { ...this.reach('east', 'ingress', token), ingress: { name: 'ingress' } };
    await this.startAgent('ingress', version, config);
  }

  private async startClient(version: Version): Promise<void> {
    const [name, address] = ['client', this.mesh.machine()];
    const token = await this.token('west', { name, workload: name });
    const config = { ...this.reach('west', name, token), capture: 'bind', dataplanes: [{ name, address }] };
    await this.startAgent(name, version, config);
  }

  private token(zone: ZoneName, claims: { readonly name: string; readonly workload: string }): Promise<string> {
    return this.mesh
      .zone(zone)
      .any(0)
      .text('/tokens/dataplane', { mesh: 'default', ...claims, validFor: '12h' });
  }

  private reach(zone: ZoneName, name: string, token: string): object {
    const tokenFile = join(this.folder, `${name}.token`);
    writeFileSync(tokenFile, token, { mode: 0o600 });
    const { plane } = this;
    const envoy = plane === 'envoy' ? { envoy: { path: ENVOY, concurrency: 1 } } : {};
    return { controlPlanes: this.mesh.xdsAddresses(zone), tokenFile, plane, ...envoy, drainTime: '5s' };
  }

  private async startAgent(name: string, { root }: Version, config: object): Promise<void> {
    const agent = new AgentProcess(join(this.folder, name), config);
    agent.root = root;
    this.agents.set(name, agent);
    await agent.start();
    await this.untilServing(name, agent);
  }

  private async untilServing(name: string, agent: AgentProcess): Promise<void> {
    await until(`the agent ${name} serves`, async () => {
      const { proxies = [] } = (await agent.status()) ?? {};
      return proxies.length > 0 && proxies.every(({ plane }) => plane.type === 'serving');
    }).catch((cause: unknown) => {
      throw new Error(`the agent ${name} says: ${agent.log.slice(-1_000)}`, { cause });
    });
    if (!(WEB as readonly string[]).includes(name)) return;
    await until(`${name} is ready`, async () => {
      const found = await this.mesh.zone('east').any(0).get(`/meshes/default/dataplanes/${name}`);
      const { networking } = (found?.['spec'] ?? {}) as { networking?: { inbound?: readonly { state?: string }[] } };
      return networking !== undefined && (networking.inbound?.[0]?.state ?? 'Ready') === 'Ready';
    });
  }
}

async function put(mesh: MixedMesh, plane: 'global' | ZoneName, path: string, document: object): Promise<void> {
  const status = await (plane === 'global' ? mesh.global : mesh.zone(plane)).any(0).put(path, document);
  if (status !== 200 && status !== 201) throw new Error(`the PUT of ${path} was answered ${status}`);
}
