import { RESOURCE_TYPES, type EncodedResource } from '@causeway/xds-server';
import { decodeCluster, type DecodedCluster } from './decode/clusters';
import { decodeEndpoints, type EndpointLocality } from './decode/endpoints';
import { decodeListener, type DecodedListener } from './decode/listeners';
import { decodeRoutes, type DecodedRoute } from './decode/routes';
import { decodeSecret, type Secret } from './decode/secrets';

/** Resources of a Dataplane, encoded as received. */
export interface PlaneResources {
  get(type: string, name: string): EncodedResource | 'pending' | undefined;
  names(type: string): Iterable<string>;
  /** Subscribes to these resources. */
  want(type: string, names: readonly string[]): void;
  /** Unsubscribes from these resources. */
  release(type: string, names: readonly string[]): void;
}

/** Decoded resource, or why it cannot be applied. */
type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

const { cluster, endpoints, listener, routes, secret } = RESOURCE_TYPES;

/** Resources, each decoded once. An undecodable one is treated as absent; `problem` returns the reason. */
export class DecodedResources {
  private readonly clusters = new Decoder(cluster, decodeCluster);
  private readonly endpoints = new Decoder(endpoints, decodeEndpoints);
  private readonly listeners = new Decoder(listener, decodeListener);
  private readonly routes = new Decoder(routes, decodeRoutes);
  private readonly secrets = new Decoder(secret, decodeSecret);

  constructor(private readonly resources: Pick<PlaneResources, 'get' | 'names'>) {}

  cluster(name: string): DecodedCluster | undefined {
    return this.clusters.get(this.resources, name)?.value;
  }

  listEndpoints(plan: DecodedCluster): readonly EndpointLocality[] {
    if ('localities' in plan.endpoints) return plan.endpoints.localities;
    return this.endpoints.get(this.resources, plan.endpoints.name)?.value ?? [];
  }

  listener(name: string): DecodedListener | undefined {
    return this.listeners.get(this.resources, name)?.value;
  }

  route(name: string): DecodedRoute | undefined {
    return this.routes.get(this.resources, name)?.value;
  }

  secret(name: string): { readonly resource: EncodedResource; readonly secret: Secret } | undefined {
    const found = this.secrets.get(this.resources, name);
    return found && { resource: found.resource, secret: found.value };
  }

  names(type: string): Iterable<string> {
    return this.resources.names(type);
  }

  /** Returns why a stored resource cannot be applied; undefined if it can. */
  problem(type: string, name: string): string | undefined {
    const decoder = [this.clusters, this.endpoints, this.listeners, this.routes, this.secrets].find(
      (one) => one.type === type,
    );
    return decoder?.problem(this.resources, name);
  }
}

class Decoder<T> {
  private readonly known = new WeakMap<EncodedResource, Decoded<T>>();

  constructor(
    readonly type: string,
    private readonly decode: (bytes: Uint8Array) => T,
  ) {}

  get(
    resources: Pick<PlaneResources, 'get'>,
    name: string,
  ): { readonly resource: EncodedResource; readonly value: T } | undefined {
    const resource = resources.get(this.type, name);
    if (resource === undefined || resource === 'pending') return undefined;
    const decoded = this.decodeOnce(resource);
    return decoded.ok ? { resource, value: decoded.value } : undefined;
  }

  problem(resources: Pick<PlaneResources, 'get'>, name: string): string | undefined {
    const resource = resources.get(this.type, name);
    if (resource === undefined || resource === 'pending') return undefined;
    const decoded = this.decodeOnce(resource);
    return decoded.ok ? undefined : decoded.reason;
  }

  private decodeOnce(resource: EncodedResource): Decoded<T> {
    const known = this.known.get(resource);
    if (known) return known;
    const decoded = this.attempt(resource.bytes);
    this.known.set(resource, decoded);
    return decoded;
  }

  private attempt(bytes: Uint8Array): Decoded<T> {
    try {
      return { ok: true, value: this.decode(bytes) };
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }
}
