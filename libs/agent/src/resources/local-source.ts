import { Cluster, Cluster_DiscoveryType, ClusterLoadAssignment } from '@causeway/proto-gen';
import {
  encodeResource,
  RESOURCE_TYPES,
  type EncodedResource,
  type HostSource,
  type Proxy,
  type ResourceSource,
  type SourceListener,
} from '@causeway/xds';
import { clusterOfResolved, isResolvedName, NamedClusters, namesAmong, resolvedName } from './named-clusters';
import type { CacheChange, ResourceCache } from './resource-cache';

const { cluster, endpoints } = RESOURCE_TYPES;

/**
 * The caches of this machine as what an xDS server serves: the view of a proxy is the cache of its Dataplane. Its revision counts
 * the changes of all caches.
 */
export class LocalSource implements ResourceSource<ResourceCache> {
  revision = 0;
  private readonly listeners = new Set<SourceListener<ResourceCache>>();
  private readonly clusters: NamedClusters;
  /** The host names of each cache, by cluster. */
  private readonly namedIn = new Map<ResourceCache, Map<string, readonly string[]>>();
  private readonly unsubscribe: () => void;

  /** `onAck` is called when a proxy has acked, or rejected, something, or lacks nothing of a change. */
  constructor(
    private readonly onAck: (proxy: string) => void,
    /** Where host names are reached that the zone sends. */
    private readonly hosts: HostSource,
  ) {
    this.clusters = new NamedClusters(hosts);
    this.unsubscribe = hosts.subscribe((name) => this.hostChanged(name));
  }

  /** Follows a cache until the returned function is called. */
  follow(cache: ResourceCache): () => void {
    const stop = cache.subscribe((change) => this.cacheChanged(cache, change));
    this.namedIn.set(cache, new Map());
    this.noteNames(cache, cache.names(cluster));
    return () => {
      stop();
      this.namedIn.delete(cache);
      this.keepNames();
    };
  }

  get(cache: ResourceCache, type: string, name: string): EncodedResource | 'pending' | undefined {
    if (isResolvedName(type, name)) {
      const of = cache.get(cluster, clusterOfResolved(name));
      return (typeof of === 'object' ? this.clusters.endpointsOf(of) : undefined) ?? emptyResource(type, name);
    }
    const found = cache.get(type, name) ?? emptyResource(type, name);
    return typeof found === 'object' ? this.clusters.withoutNames(found) : found;
  }

  close(): void {
    this.unsubscribe();
  }

  names({ view }: Proxy<ResourceCache>, type: string): ReadonlySet<string> {
    return view.names(type);
  }

  subscribe(listener: SourceListener<ResourceCache>): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  subscribed({ view }: Proxy<ResourceCache>, type: string, names: readonly string[]): void {
    view.want(
      type,
      names.filter((name) => !isResolvedName(type, name)),
    );
  }

  unsubscribed({ view }: Proxy<ResourceCache>, type: string, names: readonly string[]): void {
    view.release(
      type,
      names.filter((name) => !isResolvedName(type, name)),
    );
  }

  acked({ id }: Proxy<ResourceCache>): void {
    this.onAck(id);
  }

  unchanged({ id }: Proxy<ResourceCache>): void {
    this.onAck(id);
  }

  private cacheChanged(cache: ResourceCache, change: CacheChange): void {
    if (change.type !== cluster) return this.changed(cache, change);
    this.noteNames(cache, change.names);
    this.changed(cache, change);
    const resolved = change.names.map(resolvedName);
    this.changed(cache, { type: endpoints, names: resolved });
  }

  private noteNames(cache: ResourceCache, clusters: Iterable<string>): void {
    const named = this.namedIn.get(cache);
    if (!named) return;
    let isOther = false;
    for (const name of clusters) {
      const resource = cache.get(cluster, name);
      const hosts = typeof resource === 'object' ? namesAmong(this.clusters.hostsOf(resource)) : [];
      isOther ||= hosts.length > 0 || named.has(name);
      if (hosts.length > 0) named.set(name, hosts);
      else named.delete(name);
    }
    if (isOther) this.keepNames();
  }

  private keepNames(): void {
    this.hosts.keep([...this.namedIn.values()].flatMap((named) => [...named.values()].flat()));
  }

  private hostChanged(host: string): void {
    for (const [cache, named] of this.namedIn) {
      const clusters = [...named].filter(([, hosts]) => hosts.includes(host)).map(([name]) => resolvedName(name));
      if (clusters.length > 0) this.changed(cache, { type: endpoints, names: clusters });
    }
  }

  private changed(view: ResourceCache, { type, names }: CacheChange): void {
    this.revision += 1;
    for (const each of this.listeners) each.changed({ revision: this.revision, type, names, view });
  }
}

/** Envoy lets connections hang for a cluster that is not there, and clusters wait for endpoints that are not there. */
function emptyResource(type: string, name: string): EncodedResource | undefined {
  const result =
    type === cluster && name.startsWith('vip:')
      ? encodeResource(Cluster, {
          name,
          clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.STATIC },
          loadAssignment: { clusterName: name },
        })
      : type === endpoints
        ? encodeResource(ClusterLoadAssignment, { clusterName: name })
        : undefined;
  return result?.ok ? result.resource : undefined;
}
