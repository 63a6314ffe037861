import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { DecodedCluster } from '../decode/clusters';
import type { DecodedResources } from '../decoded-resources';
import type { PlaneStats } from '../stats';
import { AddressResolver } from '../../dial/address-resolver';
import { Upstream, type UpstreamTools } from './upstream';

/** Clusters that have had a connection; follows changes of clusters and their endpoints. */
export class Upstreams {
  private readonly byName = new Map<string, Upstream>();
  /** Clusters by the name of their endpoints resource. */
  private readonly byEndpoints = new Map<string, Set<string>>();
  private readonly resolver: AddressResolver;

  constructor(
    private readonly resources: DecodedResources,
    private readonly stats: PlaneStats,
    private readonly tools: UpstreamTools,
  ) {
    this.resolver = new AddressResolver(tools.clock, () => this.changed(RESOURCE_TYPES.cluster, this.resolvedNames()));
  }

  /** Returns the cluster once its hosts are known; undefined if it does not exist. */
  async getUpstream(name: string): Promise<Upstream | undefined> {
    const known = this.byName.get(name);
    if (known) return known;
    const plan = this.resources.cluster(name);
    if (!plan) return undefined;
    if (plan.isResolved) await this.resolver.ready(this.listHosts(plan));
    return this.byName.get(name) ?? this.create(plan);
  }

  /** Applies changed resources. */
  changed(type: string, names: Iterable<string>): void {
    if (type === RESOURCE_TYPES.cluster) for (const name of names) this.refresh(name);
    if (type === RESOURCE_TYPES.endpoints)
      for (const name of names) for (const cluster of this.byEndpoints.get(name) ?? []) this.refresh(cluster);
  }

  close(): void {
    this.resolver.close();
  }

  private create(plan: DecodedCluster): Upstream {
    const upstream = new Upstream(plan, this.stats.getStats('cluster', plan.name), this.tools);
    this.byName.set(plan.name, upstream);
    this.fill(upstream, plan);
    return upstream;
  }

  private refresh(name: string): void {
    const upstream = this.byName.get(name);
    if (!upstream) return;
    const plan = this.resources.cluster(name);
    if (plan) return this.fill(upstream, plan);
    // If a resource cannot be applied, its former version stays in force.
    if (this.resources.problem(RESOURCE_TYPES.cluster, name) !== undefined) return;
    this.byName.delete(name);
    this.stats.forget('cluster', name);
    for (const clusters of this.byEndpoints.values()) clusters.delete(name);
    this.resolver.keep(new Set(this.resolvedNames().flatMap((each) => this.listHosts(this.resources.cluster(each)))));
  }

  private fill(upstream: Upstream, plan: DecodedCluster): void {
    if ('name' in plan.endpoints) {
      const users = this.byEndpoints.get(plan.endpoints.name) ?? new Set();
      this.byEndpoints.set(plan.endpoints.name, users.add(plan.name));
    }
    const addresses = (host: string): readonly string[] => (plan.isResolved ? this.resolver.addresses(host) : [host]);
    upstream.update(plan, this.resources.listEndpoints(plan), addresses);
  }

  private resolvedNames(): readonly string[] {
    return [...this.byName.keys()].filter((name) => this.resources.cluster(name)?.isResolved === true);
  }

  private listHosts(plan: DecodedCluster | undefined): readonly string[] {
    if (!plan) return [];
    return this.resources.listEndpoints(plan).flatMap(({ endpoints }) => endpoints.map(({ address }) => address));
  }
}
