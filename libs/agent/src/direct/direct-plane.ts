import { RESOURCE_TYPES } from '@causeway/xds-server';
import { errorText, type Timer } from '@causeway/runtime';
import { DecodedResources, type PlaneResources } from '../builtin/decoded-resources';
import { takesPlaintext } from '../builtin/decode/listeners';
import { ResourceNeeds } from '../builtin/resource-needs';
import type { LocalAddress } from '../capture/local-address';
import type { Plane, PlaneRules, PlaneState, UnsupportedFeature } from '../plane';
import type { CacheChange } from '../resources/resource-reader';
import { selectDirectEndpoints, parseTrustedRanges, type IsTrusted } from './direct-endpoints';
import { KernelMaps, countOpenConnections, type KernelMapsOptions } from './kernel-maps';
import { formatServiceKey, type DirectService } from '../capture/service-maps';

export interface DirectPlaneOptions extends KernelMapsOptions {
  /** Whether this plane captures the host's virtual IPs; otherwise it only serves inbounds. */
  readonly capturesVirtualIps: boolean;
  /** Ranges of IP addresses in which the operator trusts every machine and the network between them. */
  readonly trustedNetworks: readonly string[];
}

const { cluster, endpoints, listener } = RESOURCE_TYPES;

/** Interval at which the rules are checked, ms. */
const CHECK_INTERVAL = 5_000;
/** Interval at which open connections are counted while draining, ms. */
const DRAIN_POLL_INTERVAL = 200;

/**
 * Dataplane without a proxy: the kernel replaces each virtual IP by the address of an endpoint, for each new
 * connection. Nothing is encrypted or authenticated, so it connects only to endpoints that accept plaintext, in
 * networks that the operator trusts, and serves only services whose callers need no identity
 * (docs/reference/direct-plane.md).
 */
export class DirectPlane implements Plane {
  readonly type = 'direct';
  private current: PlaneState;
  private readonly decoded: DecodedResources;
  private readonly needs: ResourceNeeds;
  private readonly maps: KernelMaps | undefined;
  private readonly isTrusted: IsTrusted;
  /** Clusters by the name of their endpoints resource. */
  private readonly byEndpoints = new Map<string, Set<string>>();
  private readonly endpointsOf = new Map<string, string>();
  /** Unsupported features, by cluster. */
  private readonly lost = new Map<string, string>();
  /** Why an inbound cannot be served, by `address:port`. */
  private readonly refused = new Map<string, string>();
  private checking: Timer | undefined;

  constructor(
    private readonly resources: PlaneResources,
    private readonly options: DirectPlaneOptions,
  ) {
    this.decoded = new DecodedResources(resources);
    this.needs = new ResourceNeeds(resources);
    this.maps = options.capturesVirtualIps ? new KernelMaps(options) : undefined;
    this.isTrusted = parseTrustedRanges(options.trustedNetworks);
    this.current = { type: 'starting', since: options.clock.now() };
  }

  get state(): PlaneState {
    return this.current;
  }

  get rules(): PlaneRules | undefined {
    return this.maps && { ...this.maps.state, lost: this.lost.size };
  }

  /** Why inbounds cannot be served, by `address:port`. */
  get refusedInbounds(): ReadonlyMap<string, string> {
    return this.refused;
  }

  async start(): Promise<void> {
    for (const name of this.resources.names(listener)) this.readInbound(name);
    const services = new Map<string, DirectService>();
    for (const name of this.resources.names(cluster)) {
      const [key, service] = this.readService(name) ?? [];
      if (key !== undefined && service) services.set(key, service);
    }
    await this.maps?.begin(services);
    this.updateState();
    if (this.maps) this.checkLater(this.maps);
  }

  async take({ type, names }: CacheChange): Promise<string | undefined> {
    if (this.isEnding) return undefined;
    if (type === listener) for (const name of names) this.readInbound(name);
    const clusters = type === cluster ? names : type === endpoints ? this.listClustersWith(names) : [];
    const services = new Map(clusters.map((name) => this.readService(name)).filter((each) => each !== undefined));
    const failure = services.size === 0 ? undefined : await this.maps?.change(services);
    this.updateState();
    return failure;
  }

  async stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    if (this.isEnding) return;
    const { clock } = this.options;
    this.become({ type: 'draining' });
    this.checking?.cancel();
    if (this.maps?.state.loadedAt !== undefined) {
      const { keys } = this.maps;
      await this.maps.refuseNew();
      await this.waitForDrain(keys, clock.elapsed() + drainMs);
    }
    await this.maps?.remove();
    this.become({ type: 'stopped' });
  }

  /** Configured features that it does not implement. */
  get unsupported(): readonly UnsupportedFeature[] {
    return [...this.lost].map(([name, what]) => ({ name, what }));
  }

  private get isEnding(): boolean {
    return this.current.type === 'draining' || this.current.type === 'stopped';
  }

  /** Returns the clusters that use these endpoints. */
  private listClustersWith(names: readonly string[]): readonly string[] {
    return [...new Set(names.flatMap((name) => [...(this.byEndpoints.get(name) ?? [])]))];
  }

  /** Returns the current endpoints of a virtual IP; undefined for a cluster without a virtual IP. */
  private readService(name: string): readonly [key: string, service: DirectService | undefined] | undefined {
    const at = parseVirtualAddress(name);
    if (!at || !this.maps) return undefined;
    const key = formatServiceKey(at);
    const plan = this.decoded.cluster(name);
    this.follow(name, plan && 'name' in plan.endpoints ? plan.endpoints.name : undefined);
    if (!plan) {
      this.setUnsupported(name, this.decoded.problem(cluster, name));
      return [key, undefined];
    }
    const localities = this.decoded.listEndpoints(plan);
    const { endpoints: found, unsupported } = selectDirectEndpoints(at, plan, localities, this.isTrusted);
    this.setUnsupported(name, unsupported);
    return [key, found.length === 0 ? undefined : { at, endpoints: found }];
  }

  private follow(name: string, wanted: string | undefined): void {
    const before = this.endpointsOf.get(name);
    if (before === wanted) return;
    if (before !== undefined) {
      const users = this.byEndpoints.get(before);
      users?.delete(name);
      if (users?.size === 0) this.byEndpoints.delete(before);
    }
    if (wanted === undefined) this.endpointsOf.delete(name);
    else {
      this.endpointsOf.set(name, wanted);
      this.byEndpoints.set(wanted, (this.byEndpoints.get(wanted) ?? new Set()).add(name));
    }
    this.needs.set(name, wanted === undefined ? [] : [{ type: endpoints, name: wanted }]);
  }

  private readInbound(name: string): void {
    const at = /^inbound:(.+)$/.exec(name)?.[1];
    if (at === undefined) return;
    const plan = this.decoded.listener(name);
    const reason = plan && !takesPlaintext(plan) ? NEEDS_PROXY : this.decoded.problem(listener, name);
    if (reason === undefined) this.refused.delete(at);
    else this.refused.set(at, reason);
  }

  private setUnsupported(name: string, what: string | undefined): void {
    if (what === undefined) this.lost.delete(name);
    else this.lost.set(name, what);
  }

  private updateState(): void {
    if (this.isEnding) return;
    const failure = this.maps?.state.failure;
    const [inbound] = this.refused;
    const reason = failure ?? (inbound && `inbound ${inbound[0]}: ${inbound[1]}`);
    const type = reason === undefined ? 'serving' : 'failed';
    if (this.current.type !== type || this.current.reason !== reason)
      this.become({ type, ...(reason !== undefined && { reason }) });
  }

  private checkLater(maps: KernelMaps): void {
    const { clock, logger } = this.options;
    this.checking = clock.after(CHECK_INTERVAL, () => {
      void maps
        .check()
        .then((wasMissing) => {
          if (wasMissing) logger.warn('somebody has removed rules of the plane direct: they are written anew');
        })
        .catch((error: unknown) =>
          logger.warn('the rules of the plane direct cannot be read', { error: errorText(error) }),
        )
        .finally(() => {
          this.updateState();
          if (!this.isEnding) this.checkLater(maps);
        });
    });
  }

  /** Waits for connections to end: they need the rules while they are open. */
  private async waitForDrain(keys: ReadonlySet<string>, until: number): Promise<void> {
    const { clock } = this.options;
    while (clock.elapsed() < until && (await countOpenConnections(keys)) > 0)
      await clock.sleep(Math.min(DRAIN_POLL_INTERVAL, Math.max(1, until - clock.elapsed())));
  }

  private become(state: Omit<PlaneState, 'since'>): void {
    this.current = { ...state, since: this.options.clock.now() };
  }
}

/** Parses the virtual IP and port of a cluster name `vip:<address>:<port>`. */
function parseVirtualAddress(name: string): LocalAddress | undefined {
  const [, address, port] = /^vip:\[?([0-9a-f.:]+?)\]?:(\d+)$/i.exec(name) ?? [];
  return address === undefined ? undefined : { address, port: Number(port) };
}

/** Why a process cannot accept the connections of an inbound itself. */
const NEEDS_PROXY =
  'callers need an identity (mTLS Strict) or may not call (access rules), which the plane direct cannot check: use envoy or builtin';
