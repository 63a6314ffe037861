import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreKinds } from '@causeway/kinds';
import { ENVOY, EnvoyProcess } from '../support/envoy-process';
import { loopbackNetwork } from '../support/loopback-networks';
import { echo, type ServiceProcess } from '../support/mesh-processes';
import { ProcessMesh } from '../support/process-mesh';
import type { PlaneEnvironment, ProcessPlane } from '../support/process-plane';
import { RecordedWay } from '../support/secret-search';
import { until } from '../support/until';
import type { At } from './calls';
import type { Slot } from './vip-churn';
import { dataplaneToken, writeBootstrap, type ProxyBootstrap } from './proxy-bootstrap';

/** Options of an installation. */
export interface TrafficSettings {
  readonly zones?: readonly string[];
  /** Settings of every control plane. */
  readonly shared?: PlaneEnvironment;
  /** Settings of the global. */
  readonly global?: PlaneEnvironment;
  /** Settings of every zone. */
  readonly zone?: PlaneEnvironment;
  /** Prefix length of the range of MeshServices; 21 by default. */
  readonly vipBits?: number;
  /** Of each zone; 1 by default. */
  readonly replicas?: number;
  /** An Envoy as the ingress of each zone; true by default. */
  readonly hasIngresses?: boolean;
  /** Keeps every byte between the global and the zones, which must be in plain: `ways`. */
  readonly isRecorded?: boolean;
}

/** An instance of a service: its process, its Dataplane and its proxy. */
export interface Instance {
  readonly zone: string;
  /** Of its Dataplane, and what its process answers. */
  readonly name: string;
  /** Address of its proxy. */
  readonly at: At;
  readonly process: ServiceProcess;
  readonly proxy: EnvoyProcess;
}

/** Fields of an instance that its Dataplane has. */
export interface RegisteredInstance extends Pick<Instance, 'zone' | 'name' | 'at'> {
  readonly service: string;
  readonly process: { readonly port: number };
  readonly state?: string;
}

/** The port of every service, at its VIP and at its instances. */
export const PORT = 6379;
const INGRESS_PORT = 10001;
/** Addresses of a zone's VIPs: so many in the third place of an address. */
const VIP_NETS = 16;
const MACHINES = 100;
const INGRESSES = 200;

/**
 * A global and zones as processes, with an Envoy as the ingress of each zone, and as many instances and clients as a test wants:
 * on loopback addresses of one block, so no root is needed, and two installations can stand side by side. `stop` ends all of it.
 */
export class TrafficMesh {
  readonly mesh: ProcessMesh;
  private readonly network = loopbackNetwork();
  private readonly block = this.network.prefix;
  private readonly folder = mkdtempSync(join(tmpdir(), 'causeway-traffic-'));
  /** CAUSEWAY_SECRETS_KEY of every zone. */
  readonly secrets = `test:${randomBytes(32).toString('base64')}`;
  private readonly envoys = new Set<EnvoyProcess>();
  private readonly processes: ServiceProcess[] = [];
  readonly ways: RecordedWay[] = [];
  private readonly replicas = new Map<string, ProcessPlane[]>();
  private readonly ingresses = new Map<string, EnvoyProcess>();
  private machines = 0;

  private constructor(private readonly settings: TrafficSettings) {
    this.mesh = new ProcessMesh(settings.shared);
  }

  /** Starts the control planes and an ingress for each zone; every Dataplane has an identity. */
  static async start(settings: TrafficSettings = {}): Promise<TrafficMesh> {
    const traffic = new TrafficMesh(settings);
    try {
      await traffic.mesh.startGlobal(settings.global);
      for (let n = 0; n < (settings.replicas ?? 1); n++)
        await Promise.all(traffic.zones.map((zone) => traffic.startZone(zone)));
      const spec = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled' } };
      await traffic.put(traffic.mesh.global, 'MeshIdentity', 'default', spec);
      if (settings.hasIngresses ?? true) await Promise.all(traffic.zones.map((zone) => traffic.startIngress(zone)));
    } catch (error) {
      await traffic.stop();
      throw error;
    }
    return traffic;
  }

  get zones(): readonly string[] {
    return this.settings.zones ?? ['east', 'west'];
  }

  zone(name: string): ProcessPlane {
    return this.mesh.zone(name);
  }

  /** Starts a replica of a zone's control plane. */
  async startZone(zone: string, own: PlaneEnvironment = {}): Promise<ProcessPlane> {
    const plane = await this.mesh.startZone(zone, { ...this.zoneSettings(zone), ...(await this.recorded()), ...own });
    this.replicas.set(zone, [...(this.replicas.get(zone) ?? []), plane]);
    return plane;
  }

  ingress(zone: string): EnvoyProcess {
    const found = this.ingresses.get(zone);
    if (!found) throw new Error(`no ingress of ${zone}`);
    return found;
  }

  /** Returns the address of the n-th ingress of a zone. */
  ingressAt(zone: string, n = 0): At {
    return { address: `${this.block}.${INGRESSES + n}.${this.zones.indexOf(zone) + 1}`, port: INGRESS_PORT };
  }

  private async recorded(): Promise<PlaneEnvironment> {
    if (this.settings.isRecorded !== true) return {};
    const way = new RecordedWay(Number(this.mesh.global.kdsAddress.split(':')[1]));
    this.ways.push(way);
    const { port } = await way.open();
    return { CAUSEWAY_GLOBAL_ADDRESS: `grpc://127.0.0.1:${port}` };
  }

  zoneSettings(zone: string): PlaneEnvironment {
    const first = VIP_NETS * this.zones.indexOf(zone);
    return {
      CAUSEWAY_SECRETS_KEY: this.secrets,
      CAUSEWAY_VIP_RANGE_MESHSERVICE: `${this.block}.${first}.0/${this.settings.vipBits ?? 21}`,
      CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE: `${this.block}.${first + VIP_NETS / 2}.0/22`,
      CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE: `${this.block}.${first + (VIP_NETS * 3) / 4}.0/22`,
      ...this.settings.zone,
    };
  }

  /** Starts a process that answers `<name>:<request>`, its Dataplane and its proxy. */
  async instance(zone: string, service: string, name: string): Promise<Instance> {
    const process = await this.echo(name);
    const registered = { zone, name, at: { address: this.machine(), port: PORT }, process };
    await this.putInstance({ ...registered, service });
    return { ...registered, proxy: await this.proxy(zone, name) };
  }

  /** Ends the process and the proxy of an instance at once, as when their machine dies. */
  async kill({ process, proxy }: Instance): Promise<void> {
    await Promise.all([process.stop(), proxy.stop()]);
  }

  /** Starts the process and the proxy of an instance that was killed; its Dataplane was there all the time. */
  async revive(killed: Instance): Promise<Instance> {
    const { zone, name, process } = killed;
    return { ...killed, process: await this.echo(name, process.port), proxy: await this.proxy(zone, name) };
  }

  private async echo(name: string, port = 0): Promise<ServiceProcess> {
    const process = await echo(name, '127.0.0.1', port);
    this.processes.push(process);
    return process;
  }

  /** Puts the Dataplane of an instance. */
  putInstance({ zone, service, name, at, process, state = 'Ready' }: RegisteredInstance): Promise<void> {
    const tags = { 'kuma.io/service': service, 'kuma.io/protocol': 'tcp' };
    const inbound = [{ port: at.port, servicePort: process.port, tags, state }];
    return this.put(this.zone(zone), 'Dataplane', name, { networking: { address: at.address, inbound } });
  }

  /** Starts so many processes with one Dataplane and one proxy; each answers its own name, which is also its tag `slot`. */
  async slots(zone: string, count: number): Promise<readonly Slot[]> {
    const address = this.machine();
    const slots = Array.from({ length: count }, (_, n) => ({ name: `slot-${n}`, port: PORT + n }));
    const processes = await Promise.all(slots.map(({ name }) => this.echo(name)));
    const inbound = slots.map(({ name, port }, n) => {
      const tags = { 'kuma.io/service': name, 'kuma.io/protocol': 'tcp', slot: name };
      return { port, servicePort: processes[n]?.port, tags };
    });
    await this.put(this.zone(zone), 'Dataplane', 'slots', { networking: { address, inbound } });
    await this.proxy(zone, 'slots');
    return slots;
  }

  /** Starts a proxy that listens at the VIPs of its zone. */
  async client(zone: string, name = `client-${zone}`): Promise<EnvoyProcess> {
    await this.put(this.mesh.zone(zone), 'Dataplane', name, { networking: { address: this.machine() } });
    return this.proxy(zone, name, { 'causeway.io/capture': 'bind' });
  }

  /** Returns the address of a MeshService of zone `origin` in another zone; waits until it has one. */
  vip(zone: string, service: string, origin: string): Promise<At> {
    return this.vipOf(zone, `meshservices/${service}?zone=${origin}`);
  }

  /** Returns the address of a service in a zone; waits until it has one. */
  vipOf(zone: string, path: string): Promise<At> {
    return until(`${path} has an address in ${zone}`, async () => {
      const found = await this.mesh.zone(zone).get(`/meshes/default/${path}`);
      const status = (found?.['status'] ?? {}) as { vip?: { ip: string }; vips?: readonly { ip: string }[] };
      const address = status.vip?.ip ?? status.vips?.[0]?.ip;
      return address === undefined ? undefined : { address, port: PORT };
    });
  }

  /** Ends the n-th replica of a zone at once. */
  async crash(zone: string, n = 0): Promise<void> {
    await this.replica(zone, n).kill();
  }

  /** Starts it again, at the same port for proxies; the global may be away. */
  async recover(zone: string, n = 0): Promise<ProcessPlane> {
    const CAUSEWAY_XDS_PORT = this.replica(zone, n).xdsAddress.split(':')[1] ?? '0';
    const plane = await this.mesh.bootZone(zone, { ...this.zoneSettings(zone), CAUSEWAY_XDS_PORT });
    this.replicas.get(zone)?.splice(n, 1, plane);
    return plane;
  }

  replica(zone: string, n: number): ProcessPlane {
    const found = this.replicasOf(zone)[n];
    if (!found) throw new Error(`no replica ${n} of ${zone}`);
    return found;
  }

  /** The control planes of a zone; those that were killed too. */
  replicasOf(zone: string): readonly ProcessPlane[] {
    return this.replicas.get(zone) ?? [];
  }

  /** The replica of a zone that leads; waits until one does. */
  leaderOf(zone: string): Promise<ProcessPlane> {
    return until(`a replica of ${zone} leads`, async () => {
      for (const one of this.replicasOf(zone))
        if ((await one.metric('causeway_leader').catch(() => 0)) === 1) return one;
      return undefined;
    });
  }

  /** Returns the authority that verifies the ports of a zone for proxies; undefined in plain text. */
  authorityOf(zone: string): Promise<string | undefined> {
    return this.zone(zone)
      .text('/rest/ca')
      .catch(() => undefined);
  }

  /** Starts a proxy of a Dataplane. */
  async proxy(zone: string, dataplane: string, metadata: ProxyBootstrap['metadata'] = {}): Promise<EnvoyProcess> {
    const token = await dataplaneToken(this.zone(zone), dataplane);
    return this.envoy(zone, { id: `default.${dataplane}`, token, metadata, hasKey: true });
  }

  private async envoy(zone: string, proxy: Omit<ProxyBootstrap, 'controlPlanes'>): Promise<EnvoyProcess> {
    const folder = mkdtempSync(join(this.folder, 'proxy-'));
    const file = await writeBootstrap(folder, {
      ...proxy,
      controlPlanes: this.replicasOf(zone).map(({ xdsAddress }) => xdsAddress),
    });
    const envoy = await EnvoyProcess.run(ENVOY ?? '', file, folder);
    this.envoys.add(envoy);
    return envoy;
  }

  /** Ends everything that was started. */
  async stop(): Promise<void> {
    await Promise.all([...this.envoys].map((envoy) => envoy.stop()));
    await Promise.all(this.processes.map((process) => process.stop()));
    await Promise.all([...this.replicas.values()].flat().map((plane) => plane.stop()));
    await this.mesh.stop();
    await Promise.all(this.ways.map((way) => way.close()));
    rmSync(this.folder, { recursive: true, force: true });
    this.network.release();
  }

  /** Puts the ZoneIngress of a zone; returns a token for it. */
  async declareIngress(zone: string, name: string, { address, port }: At): Promise<string> {
    const plane = this.mesh.zone(zone);
    await this.put(plane, 'ZoneIngress', name, { networking: { address, port } });
    await this.put(plane, 'MeshZoneAddress', name, { address, port });
    return this.mesh.global.text('/tokens/zone', { zone, scope: ['ingress'], validFor: '24h' });
  }

  private async startIngress(zone: string): Promise<void> {
    const token = await this.declareIngress(zone, 'ingress', this.ingressAt(zone));
    const metadata = { 'dataplane.proxyType': 'ingress' };
    this.ingresses.set(zone, await this.envoy(zone, { id: '.ingress', token, metadata, hasKey: false }));
  }

  /** A loopback address that nothing else has. */
  machine(): string {
    this.machines += 1;
    return `${this.block}.${MACHINES}.${this.machines}`;
  }

  /** Puts a resource; rejects unless it is accepted. */
  async put(plane: ProcessPlane, kind: string, name: string, spec: unknown): Promise<void> {
    const path = pathOf(kind, name);
    const status = await plane.put(path, { type: kind, name, ...(inMesh(kind) && { mesh: 'default' }), spec });
    if (status !== 200 && status !== 201) throw new Error(`the PUT of ${path} was answered ${status}`);
  }

  async delete(plane: ProcessPlane, kind: string, name: string): Promise<void> {
    const status = await plane.delete(pathOf(kind, name));
    if (status !== 200) throw new Error(`the DELETE of ${pathOf(kind, name)} was answered ${status}`);
  }
}

function inMesh(kind: string): boolean {
  return coreKinds.kind(kind)?.scope === 'mesh';
}

function pathOf(kind: string, name: string): string {
  return `${inMesh(kind) ? '/meshes/default' : ''}/${coreKinds.kind(kind)?.plural}/${name}`;
}
