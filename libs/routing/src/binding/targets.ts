import { compareIdentities, getOrInsert, type Identity, identityKey } from '@causeway/resources';
import type { Gateway, Service } from '../model';
import { gatewayFrontend, serviceFrontend, targetKey, type Frontend } from './frontend';

/**
 * Services and Gateways by the names in references, as one zone resolves them: a resource created in the zone shadows
 * synced ones with the same namespace and display name; otherwise all synced ones are found (T002, edge rules).
 */
export class Targets {
  private readonly frontends = new Map<string, { readonly target: string; readonly frontend: Frontend }>();
  private readonly byTarget = new Map<string, Map<string, Frontend>>();
  /** Frontends by target key, for keys that several share. */
  private readonly shared = new Map<string, ReadonlySet<Frontend>>();

  /** `zone`: the zone in which names are resolved; empty on the global. */
  constructor(private readonly zone: string) {}

  /** Adds or replaces a service; returns the target keys that now find another service. */
  putService(service: Service): readonly string[] {
    const { id, displayName } = service;
    const kind = id.kind === 'MeshMultiZoneService' ? 'MeshMultiZoneService' : 'MeshService';
    const frontend = serviceFrontend(service);
    return this.put(targetKey(kind, id.mesh, frontend.namespace, displayName), frontend);
  }

  putGateway(gateway: Gateway): readonly string[] {
    const { mesh, namespace, name } = gateway.id;
    return this.put(targetKey('Gateway', mesh, namespace, name), gatewayFrontend(gateway));
  }

  /** Removes a service or a Gateway; returns the target keys that found it. */
  remove(id: Identity): readonly string[] {
    const key = identityKey(id);
    const known = this.frontends.get(key);
    if (!known) return [];
    const siblings = this.byTarget.get(known.target);
    siblings?.delete(key);
    if (siblings?.size === 0) this.byTarget.delete(known.target);
    this.shared.delete(known.target);
    this.frontends.delete(key);
    return [known.target];
  }

  get(key: string): Frontend | undefined {
    return this.frontends.get(key)?.frontend;
  }

  /** Returns the frontends of all services and Gateways. */
  *all(): Generator<Frontend> {
    for (const { frontend } of this.frontends.values()) yield frontend;
  }

  /** Returns the target key that finds this frontend; undefined if the frontend is unknown. */
  findTarget(key: string): string | undefined {
    return this.frontends.get(key)?.target;
  }

  /** Returns all frontends with a target key, shadowed ones included. */
  named(target: string): Iterable<Frontend> {
    return this.byTarget.get(target)?.values() ?? [];
  }

  /** Returns the frontends in this zone with a target key, in the order of identities; empty if there are none. */
  visible(target: string): readonly Frontend[] {
    const all = this.byTarget.get(target);
    if (!all || all.size < 2) return [...(all?.values() ?? [])];
    return [...this.resolved(target, all)];
  }

  /** Whether a target key finds this frontend in this zone. */
  isVisible(target: string, frontend: Frontend): boolean {
    const all = this.byTarget.get(target);
    if (!all || all.size < 2) return all?.get(frontend.key) === frontend;
    return this.resolved(target, all).has(frontend);
  }

  /** Sorted once until the frontends with the key change, because it may be read once per service. */
  private resolved(target: string, all: ReadonlyMap<string, Frontend>): ReadonlySet<Frontend> {
    return getOrInsert(this.shared, target, () => {
      const local = [...all.values()].filter(({ id }) => id.zone === this.zone);
      const found = local.length > 0 ? local : [...all.values()];
      return new Set(found.sort((a, b) => compareIdentities(a.id, b.id)));
    });
  }

  private put(target: string, frontend: Frontend): readonly string[] {
    const before = this.findTarget(frontend.key);
    const changed = before === undefined || before === target ? [target] : [...this.remove(frontend.id), target];
    this.frontends.set(frontend.key, { target, frontend });
    const siblings = this.byTarget.get(target) ?? new Map<string, Frontend>();
    this.byTarget.set(target, siblings.set(frontend.key, frontend));
    this.shared.delete(target);
    return changed;
  }
}
