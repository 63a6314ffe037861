import { isDeepStrictEqual } from 'node:util';
import { Cluster } from '@causeway/proto-gen';
import { shortened } from '@causeway/resources';
import type { Clock, Logger, Timer } from '@causeway/runtime';
import { RESOURCE_TYPES, type EncodedResource, type ResourceUpdate } from '@causeway/xds-server';
import type { ResourceCache } from '../resources/resource-cache';
import type { CacheChange, ResourceReader, ChangeApplier } from '../resources/resource-reader';
import { AddressResolver } from './address-resolver';
import type { DialFacts } from './dial-facts';
import {
  parseResolvedEndpointsName,
  listHostNames,
  removeForbiddenHosts,
  buildResolvedEndpoints,
  formatResolvedEndpointsName,
} from './permitted-hosts';
import { findRefusal } from './resource-rules';

const { cluster, endpoints } = RESOURCE_TYPES;

/** Resource that this machine refuses, or resource with hosts that it does not dial. */
export interface RefusedPart {
  /** Name of the cluster, its endpoints or the listener. */
  readonly name: string;
  readonly what: string;
}

export interface PermittedResourcesOptions {
  readonly cache: ResourceCache;
  readonly facts: DialFacts;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface KnownResource {
  readonly facts: DialFacts;
  readonly resource: EncodedResource;
}

/** Maximum number of listed hosts of one resource; the others are counted. */
const MAX_HOSTS = 8;
/** Maximum length of the reason of a refused resource, in characters. */
const MAX_REASON_LENGTH = 400;
/** Maximum number of recorded refused resources, and of resources with removed hosts. */
const MAX_REFUSED = 1_000;

/**
 * Resources that a zone sent to one Dataplane of this machine, restricted to what the machine permits: the filter
 * between the cache and every dataplane. A resource that would connect to addresses that the facts of the machine do
 * not allow is not stored, and the zone gets the reason (a NACK); the former resource stays. Forbidden hosts are
 * removed from clusters and endpoints. Host names are resolved here, so that each address is checked after each
 * resolution.
 */
export class PermittedResources implements ResourceReader {
  private readonly listeners = new Set<(change: CacheChange) => void>();
  private readonly resolver: AddressResolver;
  private readonly permitted = new WeakMap<EncodedResource, KnownResource>();
  /** By type and name: resources with removed hosts, and refused resources. */
  private readonly dropped = new Map<string, RefusedPart>();
  private readonly refusals = new Map<string, RefusedPart>();
  /** By cluster: its endpoints with the addresses last resolved, and its host names. */
  private readonly resolved = new Map<
    string,
    { readonly endpoints: EncodedResource; readonly hosts: readonly string[] }
  >();
  /** Facts of the current configuration. */
  private configured: DialFacts;
  /** Facts in force: those of the configuration, and recently removed services. */
  private facts: DialFacts;
  private retirement: Timer | undefined;
  private applier: ChangeApplier = () => Promise.resolve(undefined);

  private constructor(private readonly options: PermittedResourcesOptions) {
    this.configured = options.facts;
    this.facts = options.facts;
    this.resolver = new AddressResolver(options.clock, (host) => this.updateResolvedHost(host));
  }

  /** Checks cached resources too: the facts may have changed since they arrived. */
  static async open(options: PermittedResourcesOptions): Promise<PermittedResources> {
    const made = new PermittedResources(options);
    await made.recheckAll();
    return made;
  }

  get(type: string, name: string): EncodedResource | 'pending' | undefined {
    const ofCluster = type === endpoints ? parseResolvedEndpointsName(name) : undefined;
    if (ofCluster !== undefined) return this.resolved.get(ofCluster)?.endpoints;
    const held = this.options.cache.get(type, name);
    return held === undefined || held === 'pending' ? held : this.permit(held);
  }

  names(type: string): ReadonlySet<string> {
    return this.options.cache.names(type);
  }

  want(type: string, names: readonly string[]): void {
    this.options.cache.want(type, selectZoneResources(type, names));
  }

  release(type: string, names: readonly string[]): void {
    this.options.cache.release(type, selectZoneResources(type, names));
  }

  subscribe(listener: (change: CacheChange) => void): () => void {
    const stop = this.options.cache.subscribe(listener);
    this.listeners.add(listener);
    return () => {
      stop();
      this.listeners.delete(listener);
    };
  }

  appliedVersion(type: string, name: string): string | undefined {
    return this.options.cache.appliedVersion(type, name);
  }

  /** Like `ResourceCache.useApplier`. */
  useApplier(applier: ChangeApplier): void {
    this.applier = applier;
    this.options.cache.useApplier(applier);
  }

  /** Like `ResourceCache.receive`; the result has one line per refused resource. */
  async receive({ type, resources, removed }: ResourceUpdate): Promise<string | undefined> {
    const { cache } = this.options;
    const taken: EncodedResource[] = [];
    const reasons: string[] = [];
    for (const resource of resources) {
      const reason = this.findRefusalReason(resource);
      if (reason === undefined) taken.push(resource);
      else reasons.push(`${resource.name}: ${reason}`);
    }
    for (const name of removed) this.forget(type, name);
    const changed = await this.prepare(taken);
    const kept = new Set(taken.map(({ name }) => name));
    // Readers that wait for a refused resource learn that there is none.
    const absent = resources.flatMap(({ name }) => (kept.has(name) || cache.names(type).has(name) ? [] : [name]));
    const gone = [...removed, ...absent];
    if (taken.length + gone.length > 0 || resources.length === 0) {
      const failure = await cache.receive({ type, resources: taken, removed: gone });
      if (failure !== undefined) reasons.push(failure);
    }
    this.announce({ type: endpoints, names: changed });
    return reasons.length === 0 ? undefined : reasons.join('\n');
  }

  /**
   * Replaces the facts; a removed service stays permitted for `drainMs`. Resolves with whether they changed: refused
   * resources may then be accepted when the zone sends them again.
   */
  async update(facts: DialFacts, drainMs: number): Promise<boolean> {
    const before = this.configured;
    if (isDeepStrictEqual(facts, before)) return false;
    this.configured = facts;
    this.retirement?.cancel();
    const gone = before.services.filter((old) => !facts.services.some((one) => isDeepStrictEqual(one, old)));
    if (gone.length > 0) this.retirement = this.options.clock.after(drainMs, () => void this.applyFacts(facts));
    await this.applyFacts({ ...facts, services: [...facts.services, ...gone] });
    return true;
  }

  /** Refused resources, then resources with removed hosts. */
  get refused(): readonly RefusedPart[] {
    return [...this.refusals.values(), ...this.dropped.values()];
  }

  close(): void {
    this.retirement?.cancel();
    this.resolver.close();
  }

  private async applyFacts(facts: DialFacts): Promise<void> {
    this.facts = facts;
    await this.recheckAll();
  }

  /** Checks all cached resources against the facts. */
  private async recheckAll(): Promise<void> {
    const { cache } = this.options;
    for (const type of Object.values(RESOURCE_TYPES)) {
      const held = [...cache.names(type)].flatMap((name) => {
        const resource = cache.get(type, name);
        return resource === undefined || resource === 'pending' ? [] : [resource];
      });
      const before = new Map(held.map((one) => [one.name, this.permitted.get(one)?.resource.version]));
      const refused = held.filter((one) => this.findRefusalReason(one) !== undefined);
      if (refused.length > 0) {
        for (const { name } of refused) this.dropResolved(name, type);
        await cache.receive({ type, resources: [], removed: refused.map(({ name }) => name) });
      }
      const kept = held.filter((one) => !refused.includes(one));
      const resolved = await this.prepare(kept);
      const names = kept.flatMap((one) => (before.get(one.name) === this.permit(one).version ? [] : [one.name]));
      this.announce({ type, names });
      this.announce({ type: endpoints, names: resolved });
    }
  }

  /** Returns why a resource is refused; undefined if it is not. */
  private findRefusalReason(resource: EncodedResource): string | undefined {
    const { type, name } = resource;
    const key = formatKey(type, name);
    const reason = findRefusal(resource, this.facts);
    if (reason === undefined) {
      this.refusals.delete(key);
      return undefined;
    }
    const what = shortened(reason, MAX_REASON_LENGTH, '…');
    const before = this.refusals.get(key);
    if (before || this.refusals.size < MAX_REFUSED) this.refusals.set(key, { name, what });
    if (before?.what !== what)
      this.options.logger.warn('a resource that the zone sent is refused', { resource: name, reason: what });
    return what;
  }

  /** Resolves host names and records removed hosts. Resolves with the endpoints whose resolved hosts have changed. */
  private async prepare(resources: readonly EncodedResource[]): Promise<readonly string[]> {
    const named = resources.flatMap((resource) => {
      const hosts = resource.type === cluster ? listHostNames(Cluster.decode(resource.bytes)) : [];
      if (resource.type === cluster && hosts.length === 0) this.dropResolved(resource.name, cluster);
      return hosts.length === 0 ? [] : [{ resource, hosts }];
    });
    await this.resolver.ready(named.flatMap(({ hosts }) => hosts));
    const changed = named.filter(({ resource, hosts }) => this.setResolved(resource, hosts));
    this.resolver.keep(new Set([...this.resolved.values()].flatMap(({ hosts }) => hosts)));
    for (const resource of resources) this.permit(resource);
    return changed.map(({ resource: { name } }) => formatResolvedEndpointsName(name));
  }

  /** Updates the resolved endpoints of a cluster; returns whether they changed. */
  private setResolved(resource: EncodedResource, hosts: readonly string[]): boolean {
    const made = buildResolvedEndpoints(resource, this.facts, (host) => this.resolver.addresses(host));
    if (!made) return false;
    const before = this.resolved.get(resource.name)?.endpoints;
    const isSame = before?.version === made.resource.version;
    this.resolved.set(resource.name, { hosts, endpoints: isSame ? before : made.resource });
    this.noteDropped(cluster, resource.name, made.dropped);
    return !isSame;
  }

  private updateResolvedHost(host: string): void {
    const { cache } = this.options;
    const changed = [...this.resolved].flatMap(([name, { hosts }]) => {
      const held = hosts.includes(host) ? cache.get(cluster, name) : undefined;
      if (held === undefined || held === 'pending' || !this.setResolved(held, hosts)) return [];
      return [formatResolvedEndpointsName(name)];
    });
    this.announce({ type: endpoints, names: changed });
  }

  /** Returns a stored resource as dataplanes get it; computed once per state of the facts. */
  private permit(held: EncodedResource): EncodedResource {
    if (held.type !== cluster && held.type !== endpoints) return held;
    const { facts } = this;
    const known = this.permitted.get(held);
    if (known?.facts === facts) return known.resource;
    const { resource, dropped } = removeForbiddenHosts(held, facts);
    this.permitted.set(held, { facts, resource });
    if (held.type === endpoints || !this.resolved.has(held.name)) this.noteDropped(held.type, held.name, dropped);
    return resource;
  }

  private noteDropped(type: string, name: string, hosts: readonly string[]): void {
    const key = formatKey(type, name);
    if (hosts.length === 0) return void this.dropped.delete(key);
    const shown = [...hosts].sort().slice(0, MAX_HOSTS);
    const more = hosts.length > shown.length ? ` and ${hosts.length - shown.length} more` : '';
    const what = `${shown.join(', ')}${more} not dialled: mayDial of agent.yaml does not allow it`;
    const before = this.dropped.get(key);
    if (before?.what === what) return;
    if (before || this.dropped.size < MAX_REFUSED) this.dropped.set(key, { name, what });
    this.options.logger.warn('hosts that mayDial does not allow are left out', { resource: name, reason: what });
  }

  private forget(type: string, name: string): void {
    this.refusals.delete(formatKey(type, name));
    this.dropResolved(name, type);
  }

  private dropResolved(name: string, type: string): void {
    this.dropped.delete(formatKey(type, name));
    if (type === cluster) this.resolved.delete(name);
  }

  private announce(change: CacheChange): void {
    if (change.names.length === 0) return;
    for (const each of this.listeners) each(change);
    void this.applier(change);
  }
}

function formatKey(type: string, name: string): string {
  return `${type} ${name}`;
}

/** Resolved endpoints are built here, not requested from the zone. */
function selectZoneResources(type: string, names: readonly string[]): readonly string[] {
  return type === endpoints ? names.filter((name) => parseResolvedEndpointsName(name) === undefined) : names;
}
