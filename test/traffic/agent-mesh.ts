import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorText } from '@causeway/runtime';
import { AgentProcess } from '../support/agent-process';
import { until } from '../support/until';
import type { At } from './calls';
import { ended, PROCESS_PORT, startService } from './web-service';
import { PORT, TrafficMesh, type TrafficSettings } from './traffic-mesh';

/** Options of an installation with agents. */
export interface AgentMeshSettings extends Omit<TrafficSettings, 'hasIngresses'> {
  readonly plane?: 'builtin' | 'envoy';
  /** Of each zone; 1 by default. */
  readonly ingresses?: number;
}

/** Options of an instance. */
export interface InstanceSettings {
  /** A machine; one of loopback if absent. */
  readonly machine?: Machine;
  /** Of the health check. */
  readonly interval?: string;
}

/** A process of a service with the agent beside it. */
export interface AgentInstance {
  readonly zone: string;
  /** Of its Dataplane, and what its process answers. */
  readonly name: string;
  readonly service: string;
  readonly at: At;
  readonly machine: Machine;
  readonly agent: AgentProcess;
  process: ChildProcess;
}

/** A machine that runs programs, whose services others reach at `address`. */
export interface Machine {
  readonly address: string;
  /** Address of loopback on which its processes listen. */
  readonly loopback: string;
  /** Words before each command that runs there. */
  readonly enter: readonly string[];
  /** Address at which it reaches the control planes; loopback if absent. */
  readonly gateway?: string;
}

/** An agent whose programs reach services at their virtual IPs. */
export interface AgentClient {
  readonly agent: AgentProcess;
  /** Address of its DNS. */
  readonly dns: At;
}

/** An agent before its start. */
interface AgentPlan {
  readonly name: string;
  readonly token: string;
  readonly machine: Machine;
  readonly config: object;
}

const DNS_PORT = 5_300;

/**
 * A global and zones as processes, whose machines have agents as processes: one beside each process of a service, one beside the
 * clients of a zone, and the ingresses. All on loopback addresses of one block, so no root is needed. `stop` ends all of it.
 */
export class AgentMesh {
  private readonly folder = mkdtempSync(join(tmpdir(), 'cwm-'));
  private readonly agents: AgentProcess[] = [];
  private readonly instances: AgentInstance[] = [];
  private readonly ofIngresses = new Map<string, AgentProcess[]>();

  private constructor(
    readonly traffic: TrafficMesh,
    private readonly settings: AgentMeshSettings,
  ) {}

  /** Starts the control planes and the ingresses. */
  static async start(settings: AgentMeshSettings = {}): Promise<AgentMesh> {
    const mesh = new AgentMesh(await TrafficMesh.start({ ...settings, hasIngresses: false }), settings);
    try {
      await Promise.all(mesh.traffic.zones.map((zone) => mesh.startIngresses(zone)));
    } catch (error) {
      await mesh.stop();
      throw error;
    }
    return mesh;
  }

  /** The agent of the n-th ingress of a zone. */
  ingress(zone: string, n = 0): AgentProcess {
    const found = this.ofIngresses.get(zone)?.[n];
    if (!found) throw new Error(`no ingress ${n} of ${zone}`);
    return found;
  }

  /** Starts a process of a service, and the agent beside it; resolves when its Dataplane is ready in its zone. */
  async instance(zone: string, service: string, name: string, own: InstanceSettings = {}): Promise<AgentInstance> {
    const { machine = this.machine(), interval = '250ms' } = own;
    const at = { address: machine.address, port: PORT };
    const health = { http: { path: '/healthz' }, interval, timeout: '2s', unhealthyThreshold: 1 };
    const place = { name: service, port: at.port, servicePort: PROCESS_PORT, serviceAddress: machine.loopback };
    const dataplane = {
      name,
      address: at.address,
      labels: { 'kuma.io/workload': service },
      services: [{ ...place, protocol: 'http', health }],
    };
    const token = await this.tokenOf(zone, name, service);
    const agent = await this.agent(zone, { name, token, machine, config: { dataplanes: [dataplane] } });
    const one = { zone, service, name, at, machine, agent, process: await startService(name, machine) };
    this.instances.push(one);
    await agent.start();
    await this.untilReady(one);
    return one;
  }

  /** Starts the process of an instance again. */
  async restartProcess(one: AgentInstance): Promise<void> {
    one.process = await startService(one.name, one.machine);
  }

  /** As operators restart an instance: its agent is drained, meanwhile its process ends; then both are started again. */
  async restart(one: AgentInstance): Promise<void> {
    const drained = one.agent.command('drain');
    await until('connections end', async () => (await one.agent.status())?.proxies[0]?.plane.type !== 'serving');
    await ended(one.process, 'SIGTERM');
    await drained;
    await this.restartProcess(one);
    await one.agent.start();
    await this.untilReady(one);
  }

  /** Returns the zone's state of the first inbound of an instance; undefined if it has no Dataplane, or the zone does not answer. */
  async stateOf({ zone, name }: Pick<AgentInstance, 'zone' | 'name'>): Promise<string | undefined> {
    for (const replica of this.traffic.replicasOf(zone)) {
      const found = await replica.get(`/meshes/default/dataplanes/${name}`);
      const { networking } = (found?.['spec'] ?? {}) as { networking?: { inbound?: readonly { state?: string }[] } };
      if (networking) return networking.inbound?.[0]?.state ?? 'Ready';
    }
    return undefined;
  }

  untilReady(one: AgentInstance): Promise<unknown> {
    const isReady = async (): Promise<boolean> => (await this.stateOf(one)) === 'Ready';
    return until(`${one.name} is ready`, isReady).catch((error: unknown) => {
      throw new Error(`${errorText(error)}; its agent says: ${one.agent.log.slice(-1_000)}`);
    });
  }

  /** Starts an agent whose programs reach services at their virtual IPs. */
  async client(zone: string, name = `client-${zone}`): Promise<AgentClient> {
    const machine = this.machine();
    const { address } = machine;
    const dns = { address, port: DNS_PORT };
    const token = await this.tokenOf(zone, name, name);
    const config = { capture: 'bind', dns, dataplanes: [{ name, address }] };
    const agent = await this.agent(zone, { name, token, machine, config });
    await agent.start();
    return { agent, dns };
  }

  /** Ends everything that was started. */
  async stop(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.end('SIGKILL')));
    // An Envoy outlives its agent.
    if (this.settings.plane === 'envoy') await Promise.all(this.agents.map((agent) => agent.command('uninstall')));
    await Promise.all(this.instances.map(({ process }) => ended(process, 'SIGKILL')));
    await this.traffic.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async startIngresses(zone: string): Promise<void> {
    for (let n = 0; n < (this.settings.ingresses ?? 1); n++) await this.startIngress(zone, n);
  }

  private async startIngress(zone: string, n: number): Promise<void> {
    const [name, at] = [`ingress-${n}`, this.traffic.ingressAt(zone, n)];
    const token = await this.traffic.declareIngress(zone, name, at);
    const agent = await this.agent(zone, {
      name: `${name}-${zone}`,
      token,
      machine: this.machine(),
      config: { ingress: { name } },
    });
    this.ofIngresses.set(zone, [...(this.ofIngresses.get(zone) ?? []), agent]);
    await agent.start();
  }

  private tokenOf(zone: string, name: string, workload: string): Promise<string> {
    return this.traffic.zone(zone).text('/tokens/dataplane', { mesh: 'default', name, workload, validFor: '1h' });
  }

  private async agent(zone: string, { name, token, machine, config }: AgentPlan): Promise<AgentProcess> {
    const tokenFile = join(this.folder, `${name}.token`);
    writeFileSync(tokenFile, token, { mode: 0o600 });
    const authority = await this.traffic.authorityOf(zone);
    const authorityFile = join(this.folder, `${zone}.pem`);
    if (authority !== undefined) writeFileSync(authorityFile, authority);
    const controlPlanes = this.traffic
      .replicasOf(zone)
      .map(({ xdsAddress }) => xdsAddress.replace('0.0.0.0', machine.gateway ?? '127.0.0.1'));
    const reach = { controlPlanes, tokenFile, ...(authority !== undefined && { authorityFile }) };
    const preset = { plane: this.settings.plane ?? 'builtin', envoy: { concurrency: 1 }, drainTime: '5s' };
    const agent = new AgentProcess(join(this.folder, name), { ...reach, ...preset, ...config }, machine.enter);
    this.agents.push(agent);
    return agent;
  }

  private machine(): Machine {
    const address = this.traffic.machine();
    return { address, loopback: address, enter: [] };
  }
}
