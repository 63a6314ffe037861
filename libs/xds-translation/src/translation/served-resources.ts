import { isDeepStrictEqual } from 'node:util';
import { listAuthorityIds } from '@causeway/identity';
import type { Violation } from '@causeway/resources';
import type { TrustDomain } from '../model/trust-domains';
import type { EncodedResource, RefusedResource } from '@causeway/xds-server';
import type { ResourceBuild } from './resource-build';

/** Maximum number of refused resources that are remembered in one scope. */
const MAX_REFUSED = 1_000;
const NONE: readonly RefusedResource[] = [];

/** A kept resource: it is served again without reading the model until a change affects it. */
interface KeptResource<V> {
  readonly of: ServedName;
  readonly resource: EncodedResource;
  /** The view for which it was last built. */
  readonly view: V;
  isFresh: boolean;
  readonly touches: number;
}

/** The key of a served resource: resources of a scope are the same for all proxies that the scope serves. */
export interface ServedName {
  readonly scope: string;
  readonly type: string;
  readonly name: string;
}

/**
 * The resources that were served, by scope, and those that violate Envoy's constraints: these keep their last good content. A resource that is gone
 * is dropped.
 */
export class ServedResources<V> {
  /** By scope, type and name. Scopes stay: there are few. */
  private readonly byScope = new Map<string, Map<string, Map<string, KeptResource<V>>>>();
  private readonly refusedIn = new Map<string, Map<string, RefusedResource>>();
  /** A counter that grows whenever the set of refused resources changes. */
  refusals = 0;
  /** The number of calls of `touchAll`. */
  private touches = 0;

  /** Returns the resource as it was served, if no change has affected it since. */
  fresh(scopes: readonly string[], type: string, name: string): EncodedResource | undefined {
    for (const scope of scopes) {
      const found = this.find({ scope, type, name });
      if (found?.isFresh && found.touches === this.touches) return found.resource;
    }
    return undefined;
  }

  /** Encodes a resource by its plan. Returns the last good content if it violates Envoy's constraints, and undefined if there is none. */
  serve(plan: ResourceBuild, of: ServedName & { readonly view: V }): EncodedResource | undefined {
    const kept = this.ofType(of);
    const previous = kept.get(of.name)?.resource;
    const result = plan.encode(previous);
    if (!result.ok) {
      this.refuse(of, result.violations);
      return previous;
    }
    if (plan.problem) this.refuse(of, [plan.problem]);
    else this.accept(of);
    if (plan.isKept)
      kept.set(of.name, { of, resource: result.resource, view: of.view, isFresh: true, touches: this.touches });
    else kept.delete(of.name);
    return result.resource;
  }

  /** Yields the names that are kept, once for each scope. */
  *kept(): Generator<ServedName> {
    for (const types of this.byScope.values())
      for (const kept of types.values()) for (const { of } of kept.values()) yield of;
  }

  /** Yields the scopes in which a resource is kept, each with a view that it was made for. */
  *keptIn(type: string, name: string): Generator<{ readonly scope: string; readonly view: V }> {
    for (const scope of this.byScope.keys()) {
      const kept = this.find({ scope, type, name });
      if (kept) yield { scope, view: kept.view };
    }
  }

  /** Reports whether a resource of this scope was ever served. */
  hasScope(scope: string): boolean {
    return this.byScope.has(scope);
  }

  /** Records that a change may have affected everything. */
  touchAll(): void {
    this.touches += 1;
  }

  /** Records that a change affected these names: in these scopes, or in all. */
  touch(type: string, names: readonly string[], scopes: Iterable<string> = this.byScope.keys()): void {
    for (const scope of scopes)
      for (const name of names) {
        const kept = this.find({ scope, type, name });
        if (kept) kept.isFresh = false;
      }
  }

  /** Drops these resources: in these scopes, or in all. */
  forget(type: string, names: readonly string[], scopes: Iterable<string> = this.byScope.keys()): void {
    for (const scope of scopes)
      for (const name of names) {
        this.byScope.get(scope)?.get(type)?.delete(name);
        this.accept({ scope, type, name });
      }
  }

  /** Returns the refused resources of these scopes. Costs nothing if there is none. */
  refused(scopes: readonly string[]): readonly RefusedResource[] {
    if (this.refusedIn.size === 0) return NONE;
    return scopes.flatMap((scope) => [...(this.refusedIn.get(scope)?.values() ?? [])]);
  }

  /** The number of refused resources. */
  get refusedCount(): number {
    return [...this.refusedIn.values()].reduce((sum, { size }) => sum + size, 0);
  }

  private find({ scope, type, name }: ServedName): KeptResource<V> | undefined {
    return this.byScope.get(scope)?.get(type)?.get(name);
  }

  private ofType({ scope, type }: ServedName): Map<string, KeptResource<V>> {
    const types = this.byScope.get(scope) ?? new Map<string, Map<string, KeptResource<V>>>();
    this.byScope.set(scope, types);
    const kept = types.get(type) ?? new Map<string, KeptResource<V>>();
    types.set(type, kept);
    return kept;
  }

  private refuse({ scope, type, name }: ServedName, violations: readonly Violation[]): void {
    const known = this.refusedIn.get(scope) ?? new Map<string, RefusedResource>();
    this.refusedIn.set(scope, known);
    const key = `${type} ${name}`;
    const before = known.get(key);
    if (isDeepStrictEqual(before?.violations, violations) || (known.size >= MAX_REFUSED && !before)) return;
    known.set(key, { type, name, violations });
    this.refusals += 1;
  }

  private accept({ scope, type, name }: ServedName): void {
    const known = this.refusedIn.get(scope);
    if (known?.delete(`${type} ${name}`) !== true) return;
    this.refusals += 1;
    if (known.size === 0) this.refusedIn.delete(scope);
  }
}

/**
 * Maximum number of trust secrets remembered for each mesh: the authorities of a proxy that lags further behind are known again at its next
 * acknowledgement.
 */
const MAX_VERSIONS = 16;

/** The authorities in recently served trust secrets, by version, because proxies acknowledge versions. */
export class TrustVersions {
  /** A counter that grows whenever a version comes or goes. */
  changes = 0;
  /** Counts meshes, because secrets of several meshes may have the same content. */
  private readonly byVersion = new Map<string, { readonly authorities: readonly string[]; meshes: number }>();
  /** The latest versions of each mesh, the newest last. */
  private readonly latest = new Map<string, string[]>();

  /** Records that a secret with these domains was served to a proxy of a mesh. */
  served(mesh: string, { version }: Pick<EncodedResource, 'version'>, domains: readonly TrustDomain[]): void {
    const latest = this.latest.get(mesh) ?? [];
    if (latest.at(-1) === version) return;
    this.latest.set(mesh, latest);
    const place = latest.indexOf(version);
    if (place >= 0) latest.splice(place, 1);
    else this.hold(version, domains);
    latest.push(version);
    const oldest = latest.length > MAX_VERSIONS ? latest.shift() : undefined;
    if (oldest !== undefined) this.release(oldest);
  }

  /** Returns the ids of authorities, sorted; undefined for a version that was not served recently. */
  of(version: string): readonly string[] | undefined {
    return this.byVersion.get(version)?.authorities;
  }

  private hold(version: string, domains: readonly TrustDomain[]): void {
    const known = this.byVersion.get(version);
    if (known) known.meshes += 1;
    else {
      const authorities = [...new Set(domains.flatMap(({ pem }) => listAuthorityIds(pem)))].sort();
      this.byVersion.set(version, { authorities, meshes: 1 });
      this.changes += 1;
    }
  }

  private release(version: string): void {
    const known = this.byVersion.get(version);
    if (known && --known.meshes === 0 && this.byVersion.delete(version)) this.changes += 1;
  }
}
