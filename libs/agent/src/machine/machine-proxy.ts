import { mkdir } from 'node:fs/promises';
import type { Clock, Logger } from '@causeway/runtime';
import {
  AdsClient,
  ClientConnections,
  RESOURCE_TYPES,
  type AdsClientState,
  type AdsClientTls,
} from '@causeway/xds-server';
import { NODE_NAMESPACE, RESOLVES_NAMES } from '@causeway/xds-translation';
import { BuiltinPlane } from '../builtin/builtin-plane';
import { OnDemandListeners } from '../builtin/on-demand-listeners';
import type { LocalAddress } from '../capture/local-address';
import { DEFAULT_NAMESPACE, formatQualifiedName } from '../config/qualified-name';
import { IDENTITY_SECRET, TRUST_SECRET, WorkloadKeyFile, type HeldCertificate } from '../identity/workload-key-file';
import { PermittedResources, type RefusedPart } from '../dial/permitted-resources';
import type { DialFacts } from '../dial/dial-facts';
import type { ZoneClientAccess } from '../identity/zone-access';
import type { Plane } from '../plane';
import { ResourceCache } from '../resources/resource-cache';
import type { ResourceReader } from '../resources/resource-reader';

/** Identity and settings of a proxy, as the zone knows it (docs/reference/xds.md, Proxies). */
export interface ProxyPlan {
  readonly type: 'dataplane' | 'ingress';
  /** Empty for an ingress. */
  readonly mesh: string;
  readonly name: string;
  /** Namespace of the Dataplane; absent: `default`. */
  readonly namespace?: string;
  /** Capture of connections to services. */
  readonly capture: 'bind' | 'redirect' | 'translate' | 'none';
  /** Whether a proxy of capture `bind` listens at addresses when they are used. */
  readonly bindsOnDemand?: boolean;
  readonly redirect?: { readonly port: number; readonly reentryPort: number; readonly ipv6: boolean };
  /** Absent if a proxy carries the traffic. */
  readonly wire?: 'grpc';
  /** File of its own token, instead of that of the machine. */
  readonly tokenFile?: string;
  /** File of the authorities that this machine trusts. */
  readonly authoritiesFile?: string;
  /** Folder of this proxy only. */
  readonly folder: string;
}

/** Options of a `MachineProxy`. */
export interface MachineProxyOptions {
  readonly plan: ProxyPlan;
  readonly access: ZoneClientAccess;
  /** Addresses to which it may connect. */
  readonly dial: DialFacts;
  /** Creates the dataplane that carries the traffic, from the resources that the zone sent and the machine permits. */
  readonly createPlane: (resources: ResourceReader, keyFile: string) => Plane;
  /** Refuses connections to an address that no service has. */
  readonly refuseAbsent: (at: LocalAddress) => void;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const RECONNECT_BACKOFF = { base: 100, cap: 5_000 };
/** A certificate that expires within this time is not presented, ms. */
const EXPIRY_MARGIN = 5_000;
const ADDRESS_POLL_INTERVAL = 1_000;

/** Returns the node id of a proxy. */
export function formatNodeId({ mesh, ...named }: Pick<ProxyPlan, 'mesh' | 'name' | 'namespace'>): string {
  return `${mesh}.${formatQualifiedName(named)}`;
}

interface ProxyParts {
  readonly key: WorkloadKeyFile;
  readonly cache: ResourceCache;
  readonly permitted: PermittedResources;
  readonly plane: Plane;
}

/**
 * Proxy of one Dataplane or ingress of this machine: its key, the resources of the zone, their stream, and the
 * dataplane that carries its traffic. It serves from its cache before any control plane answers.
 */
export class MachineProxy {
  /** Connections to the zone, shared with its registration. */
  readonly connections: ClientConnections;
  private client: AdsClient | undefined;
  private isConnecting = false;
  private isStopped = false;

  readonly key: WorkloadKeyFile;
  readonly cache: ResourceCache;
  readonly plane: Plane;
  /** The addresses at which it listens when they are used; undefined for other captures. */
  readonly onDemand: OnDemandListeners | undefined;
  private readonly permitted: PermittedResources;

  private constructor(
    private readonly options: MachineProxyOptions,
    { key, cache, permitted, plane }: ProxyParts,
  ) {
    this.key = key;
    this.cache = cache;
    this.permitted = permitted;
    this.plane = plane;
    const { plan, refuseAbsent: refuse } = options;
    if (plan.bindsOnDemand && plane instanceof BuiltinPlane)
      this.onDemand = new OnDemandListeners({ resources: cache, plane, refuse });
    this.connections = new ClientConnections(options.clock);
  }

  /** Rejects if its folder cannot be written, or its dataplane can never run here. */
  static async start(options: MachineProxyOptions): Promise<MachineProxy> {
    const { plan, clock, logger } = options;
    await mkdir(plan.folder, { recursive: true, mode: 0o700 });
    const key = await WorkloadKeyFile.open(plan.folder);
    const cache = await ResourceCache.open(`${plan.folder}/resources${plan.wire ? `-${plan.wire}` : ''}`, {
      clock,
      logger,
    });
    const facts = withKey(options.dial, key);
    const permitted = await PermittedResources.open({ cache, facts, clock, logger });
    const plane = options.createPlane(permitted, key.path);
    const proxy = new MachineProxy(options, { key, cache, permitted, plane });
    try {
      await plane.start();
      permitted.useApplier((change) => plane.take(change));
      if (plan.type === 'dataplane') proxy.wantSecrets();
      if (plan.type === 'ingress') proxy.connect();
      return proxy;
    } catch (error) {
      await proxy.stop(0);
      throw error;
    }
  }

  /**
   * Subscribes to the authorities of the mesh unless the mode is `direct`: callers use TLS towards a holder of these
   * authorities, which no process behind `direct` accepts.
   */
  private wantSecrets(): void {
    const { cache, plane } = this;
    const isDirect = plane.type === 'direct';
    cache.want(RESOURCE_TYPES.secret, isDirect ? [IDENTITY_SECRET] : [IDENTITY_SECRET, TRUST_SECRET]);
    if (isDirect) cache.drop(RESOURCE_TYPES.secret, [TRUST_SECRET]);
  }

  get plan(): ProxyPlan {
    return this.options.plan;
  }

  /** Resources of the zone that the machine refuses. */
  get refused(): readonly RefusedPart[] {
    return this.permitted.refused;
  }

  /** Replaces the addresses to which it may connect; removed services stay permitted for `drainMs`. */
  async updateDialFacts(dial: DialFacts, drainMs: number): Promise<void> {
    // The zone sends refused resources again on a new stream.
    if (await this.permitted.update(withKey(dial, this.key), drainMs)) this.client?.restart();
  }

  /** State of the connection to the zone; undefined while no address is known. */
  get controlPlane(): AdsClientState | undefined {
    return this.client?.state;
  }

  /** `host:port` of the control planes. */
  get addresses(): readonly string[] {
    return this.options.access.current().addresses;
  }

  get certificate(): HeldCertificate | undefined {
    return this.plan.type === 'dataplane' ? this.key.findCertificate(this.cache) : undefined;
  }

  /** Returns TLS settings for calls to the zone; undefined: plaintext. Presents the certificate while it is valid. */
  tls(): AdsClientTls | undefined {
    const { authority } = this.options.access.current();
    if (authority === undefined) return undefined;
    const { certificate } = this;
    const holds = certificate && certificate.notAfter - EXPIRY_MARGIN > this.options.clock.now();
    return {
      authorities: authority,
      ...(holds && { identity: { chain: certificate.chain, key: this.key.privateKey } }),
    };
  }

  authorization(): string | undefined {
    const token = this.options.access.token(this.plan.tokenFile);
    return token === undefined ? undefined : `Bearer ${token}`;
  }

  /** Ends after open connections, `drainMs` at the latest. Idempotent. */
  async stop(drainMs: number): Promise<void> {
    if (this.isStopped) return;
    this.isStopped = true;
    await this.plane.stop({ drainMs });
    this.client?.close();
    this.onDemand?.close();
    this.permitted.close();
    await this.cache.close();
  }

  /** Connects once the zone has answered the registration: before, it does not know the Dataplane. Idempotent. */
  registered(): void {
    if (this.isConnecting) return;
    this.connect();
  }

  /** Polls the addresses while no bundle can be read. */
  private connect(): void {
    if (this.isStopped) return;
    this.isConnecting = true;
    const { clock, logger } = this.options;
    if (this.addresses.length === 0) return void clock.after(ADDRESS_POLL_INTERVAL, () => this.connect());
    const { plan } = this.options;
    const client = new AdsClient({
      clock,
      logger,
      limits: { pause: RECONNECT_BACKOFF },
      addresses: () => this.addresses,
      connections: this.connections,
      tls: () => this.tls(),
      authorization: () => this.authorization(),
      node: () => ({
        id: formatNodeId(plan),
        cluster: plan.type === 'ingress' ? 'ingress' : plan.name,
        metadata: this.metadata(),
        userAgent: this.userAgent(),
      }),
      held: (type) => this.cache.versions(type),
      receive: (update) => this.permitted.receive(update),
    });
    client.onState(({ type }) => this.cache.connected(type === 'connected'));
    this.client = client;
    this.cache.useClient(client);
  }

  /**
   * Returns the user agent: the control plane reads from it the mode, which decides the supported routes, and the name
   * `grpc`, which decides the form of resources.
   */
  private userAgent(): string {
    const { plan, version } = this.options;
    return plan.wire ? `${plan.wire} by causeway-agent ${version}` : `causeway-agent ${version}+${this.plane.type}`;
  }

  private metadata(): Readonly<Record<string, unknown>> {
    const { type, namespace = DEFAULT_NAMESPACE, capture, bindsOnDemand, redirect, authoritiesFile } = this.plan;
    const names = this.plane.type === 'envoy' || this.plane.type === 'builtin' ? { [RESOLVES_NAMES]: true } : {};
    if (type === 'ingress') return { 'dataplane.proxyType': 'ingress', ...names };
    return {
      ...names,
      'causeway.io/csr': this.key.csr,
      'causeway.io/key-file': this.key.path,
      'causeway.io/capture': capture,
      ...(bindsOnDemand && { 'causeway.io/bind-on-demand': true }),
      ...(redirect && {
        'causeway.io/redirect-port': redirect.port,
        'causeway.io/reentry-port': redirect.reentryPort,
        'causeway.io/redirect-ipv6': redirect.ipv6,
      }),
      ...(namespace !== DEFAULT_NAMESPACE && { [NODE_NAMESPACE]: namespace }),
      ...(authoritiesFile !== undefined && { 'causeway.io/authorities-file': authoritiesFile }),
    };
  }
}

/** Permits the key file, which the zone's certificate refers to. */
function withKey(dial: DialFacts, { path }: Pick<WorkloadKeyFile, 'path'>): DialFacts {
  return { ...dial, files: [...dial.files, path] };
}
