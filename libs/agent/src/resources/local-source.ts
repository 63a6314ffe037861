import { Cluster, Cluster_DiscoveryType, ClusterLoadAssignment } from '@causeway/proto-gen';
import {
  encodeResource,
  RESOURCE_TYPES,
  type EncodedResource,
  type Proxy,
  type ResourceSource,
  type SourceListener,
} from '@causeway/xds-server';
import { parseXdsName } from '@causeway/xds-translation';
import type { CacheChange, ResourceReader } from './resource-reader';

const { cluster, endpoints } = RESOURCE_TYPES;

/**
 * Serves the caches of this machine over xDS: the view of a proxy is the cache of its Dataplane. The revision counts
 * the changes of all caches.
 */
export class LocalSource implements ResourceSource<ResourceReader> {
  revision = 0;
  private readonly listeners = new Set<SourceListener<ResourceReader>>();

  /** `onAck`: called when a proxy acks or rejects resources, or already has a change. */
  constructor(private readonly onAck: (proxy: string) => void) {}

  /** Follows a cache until the returned function is called. */
  follow(cache: ResourceReader): () => void {
    return cache.subscribe((change) => this.changed(cache, change));
  }

  get(cache: ResourceReader, type: string, name: string): EncodedResource | 'pending' | undefined {
    return cache.get(type, name) ?? emptyResource(type, name);
  }

  names({ view }: Proxy<ResourceReader>, type: string): ReadonlySet<string> {
    return view.names(type);
  }

  subscribe(listener: SourceListener<ResourceReader>): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  subscribed({ view }: Proxy<ResourceReader>, type: string, names: readonly string[]): void {
    view.want(type, names);
  }

  unsubscribed({ view }: Proxy<ResourceReader>, type: string, names: readonly string[]): void {
    view.release(type, names);
  }

  acked({ id }: Proxy<ResourceReader>): void {
    this.onAck(id);
  }

  unchanged({ id }: Proxy<ResourceReader>): void {
    this.onAck(id);
  }

  private changed(view: ResourceReader, { type, names }: CacheChange): void {
    this.revision += 1;
    for (const each of this.listeners) each.changed({ revision: this.revision, type, names, view });
  }
}

/** Returns an empty cluster or endpoints: Envoy would wait for missing ones. */
function emptyResource(type: string, name: string): EncodedResource | undefined {
  const result =
    type === cluster && parseXdsName(name)?.prefix === 'vip'
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
