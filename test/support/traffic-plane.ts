import { fillAtOnce } from '@causeway/store/testing';
import { FollowedPolicies, FollowedRoutes } from '@causeway/meshes';
import { parseDialRules } from '@causeway/ipam';
import { Forbidden, type JsonObject, type Resource } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { DialledHosts, type EnvoyResources, type HostSource, type EnvoyView } from '@causeway/xds-translation';
import { XdsServer, type AdmittedProxy, type ProxyCaller } from '@causeway/xds-server';
import { BuiltinProxy } from './builtin-proxy';
import { EnvoyProcess, ENVOY } from './envoy-process';
import { OracleSource } from './oracle-source';
import { TestAuthority } from './test-authority';
import { sketch, TrafficZone } from './traffic-zone';
import { zoneResources } from './zone-resources';

/** Answers for `localhost`, at once. */
const LOCALHOST = {
  of: (name: string) =>
    name === 'localhost' ? { addresses: ['127.0.0.1'] } : { addresses: [], failure: 'is unknown' },
  keep: () => undefined,
  subscribe: () => () => undefined,
};

/** Returns a source of hosts by these rules of what may be dialled; of names only `localhost`. */
function hostsBy(...rules: readonly string[]): HostSource {
  const parsed = parseDialRules(rules);
  if (!parsed.ok) throw new Error(parsed.errors.join('; '));
  return new DialledHosts(parsed.rules, LOCALHOST);
}

/** For servers outside the mesh that a test has on loopback. */
export const LOOPBACK_HOSTS = hostsBy('0.0.0.0/0');

/** Kind of proxy that carries traffic: a real Envoy, or the builtin proxy. */
export type ProxyKind = 'envoy' | 'builtin';
/** The kinds that can be tried here. */
export const PROXY_KINDS: readonly ProxyKind[] = ENVOY === undefined ? ['builtin'] : ['envoy', 'builtin'];

/**
 * A zone that serves its index to real Envoys: no database, no program. Its workloads have certificates of the zone's own authority. `stop` leaves
 * nothing open.
 */
export class TrafficPlane {
  readonly server: XdsServer<EnvoyView>;
  readonly source: EnvoyResources;
  /** Holds what proxies were given against a build from nothing, after each change. */
  readonly oracle: OracleSource;
  private readonly unwatch: () => void;
  /** Views by node id; a node without one is refused. */
  readonly views = new Map<string, EnvoyView>();
  private readonly envoys: EnvoyProcess[] = [];
  private readonly builtins: BuiltinProxy[] = [];
  private readonly unfollow: () => void;
  readonly routes: FollowedRoutes;
  readonly policies: FollowedPolicies;
  /** Port of xDS. */
  port = 0;

  private constructor(
    readonly zone: string,
    readonly state: TrafficZone,
    readonly authority: TestAuthority,
    hosts: HostSource | undefined,
  ) {
    const { index } = state;
    const { meshes } = state.access;
    this.routes = new FollowedRoutes({ index, meshes, zone, run: fillAtOnce });
    this.policies = new FollowedPolicies({ index, meshes, routes: this.routes, run: fillAtOnce });
    const options = { routes: this.routes, policies: this.policies, ...(hosts && { hosts }) };
    this.source = zoneResources(state, zone, options);
    this.unfollow = this.source.follow();
    this.oracle = new OracleSource(this.source, () => zoneResources(state, zone, options));
    // It subscribes after all that follows the index, so it sees what each change has led to.
    this.unwatch = index.subscribe(() => this.oracle.check());
    const admit = (caller: ProxyCaller): Promise<AdmittedProxy<EnvoyView>> => this.admit(caller);
    this.server = new XdsServer({
      source: this.oracle,
      auth: { admit },
      clock: systemClock,
      logger: silentLogger,
      limits: {},
    });
  }

  /** `hosts`: where hosts are reached; without it by the preset rules, which allow no loopback, and names are not resolved. */
  static async start(zone: string, hosts?: HostSource): Promise<TrafficPlane> {
    const plane = new TrafficPlane(zone, new TrafficZone(), await TestAuthority.create(`${zone} authority`), hosts);
    plane.port = await plane.server.listen('127.0.0.1', 0);
    return plane;
  }

  get trustDomain(): string {
    return `default.${this.zone}.mesh.local`;
  }

  spiffeId(workload: string): string {
    return `spiffe://${this.trustDomain}/workload/${workload}`;
  }

  /** The zone's authority as a MeshTrust of the zone `of`: `''` is the global's, which every zone believes. */
  trust(of = this.zone): Resource {
    const caBundles = [{ type: 'Pem', pem: { value: this.authority.certificate } }];
    return sketch('MeshTrust', `trust-${this.zone}`, { trustDomain: this.trustDomain, caBundles }, { zone: of });
  }

  /** Puts a Dataplane of this zone, whose proxy serves its inbounds. */
  dataplane(name: string, networking: JsonObject): Resource {
    const dataplane = sketch('Dataplane', name, { networking }, { zone: this.zone });
    this.state.put(dataplane);
    return dataplane;
  }

  /** Starts an Envoy with this view; with a workload it has a certificate of that workload. */
  async envoy(node: string, view: EnvoyView, workload?: string, signer = this.authority): Promise<EnvoyProcess> {
    await this.admitAs(node, view, workload, signer);
    const envoy = await EnvoyProcess.start(ENVOY ?? '', { id: node, xdsPort: this.port });
    this.envoys.push(envoy);
    return envoy;
  }

  /** Starts a proxy of this kind. */
  proxy(kind: ProxyKind, node: string, view: EnvoyView, workload?: string): Promise<EnvoyProcess | BuiltinProxy> {
    return kind === 'envoy' ? this.envoy(node, view, workload) : this.builtin(node, view, workload);
  }

  /** Starts a builtin plane with this view, as `envoy` starts an Envoy. */
  async builtin(node: string, view: EnvoyView, workload?: string, signer = this.authority): Promise<BuiltinProxy> {
    await this.admitAs(node, view, workload, signer);
    const proxy = await BuiltinProxy.start({ id: node, xdsPort: this.port });
    this.builtins.push(proxy);
    return proxy;
  }

  /** From now on a proxy that names itself so gets this view; with a workload it has a certificate of that workload. */
  async admitAs(node: string, view: EnvoyView, workload: string | undefined, signer = this.authority): Promise<void> {
    if (workload === undefined) return void this.views.set(node, view);
    const { chain, key } = await signer.issue({ uri: this.spiffeId(workload) });
    this.views.set(node, { ...view, identity: () => ({ chain, key: { pem: key } }) });
  }

  /** Returns the resources that a proxy rejected, and those that were not sent because they break Envoy's rules. */
  problems(): readonly string[] {
    return this.server
      .proxies()
      .flatMap(({ id, types, refused }) => [
        ...types.flatMap(({ lastRejection }) => (lastRejection ? [`${id}: ${lastRejection.text}`] : [])),
        ...refused.map(({ name, violations }) => `${id}: ${name}: ${JSON.stringify(violations)}`),
      ]);
  }

  /** Whether a proxy has acked all resources. */
  isSettled(node: string): boolean {
    const proxy = this.server.proxies().find(({ id }) => id === node);
    return proxy !== undefined && proxy.types.every((type) => type.ackedRevision === this.source.revision);
  }

  async stop(): Promise<void> {
    this.oracle.check();
    await Promise.all([...this.envoys, ...this.builtins].map((proxy) => proxy.stop()));
    this.unwatch();
    this.unfollow();
    this.policies.close();
    this.routes.close();
    await this.server.close();
    const { differences } = this.oracle;
    if (differences.length > 0) throw new Error(`proxies were left behind:\n${differences.slice(0, 5).join('\n')}`);
  }

  private async admit({ node }: ProxyCaller): Promise<AdmittedProxy<EnvoyView>> {
    const view = this.views.get(node);
    if (!view) throw new Forbidden(`no view for ${node}`);
    return Promise.resolve({ proxy: { id: node, view } });
  }
}

/** The same resources in several zones, as sync would bring them. */
export function putAll(planes: readonly TrafficPlane[], ...resources: readonly Resource[]): void {
  for (const plane of planes) plane.state.put(...resources);
}
