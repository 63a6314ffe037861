import { compareIdentities, getOrInsert, type Identity, identityKey } from '@causeway/resources';
import type { Gateway, Service } from '../model';
import { gatewayFrontend, serviceFrontend, targetKey, type Frontend } from './frontend';

/**
 * Services and Gateways by the names that references use, as one zone resolves them: what was made in the zone shadows
 * synced resources of the same namespace and display name; without it all synced ones are found (T002, edge rules).
 */
export class Targets {
  private readonly frontends = new Map<string, { readonly target: string; readonly frontend: Frontend }>();
  private readonly byTarget = new Map<string, Map<string, Frontend>>();
  /** Of names that several have: what is found. */
  private readonly shared = new Map<string, ReadonlySet<Frontend>>();

  /** `zone` is where names are resolved; empty on the global. */
  constructor(private readonly zone: string) {}

  /** Keeps a service in place of its older version; returns the target keys that find another service now. */
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

  /** Forgets a service or a Gateway; returns the target keys that found it. */
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

  /** Of every service and Gateway its frontend. */
  *all(): Generator<Frontend> {
    for (const { frontend } of this.frontends.values()) yield frontend;
  }

  /** The target key by which references find this frontend; undefined where it is unknown. */
  findTarget(key: string): string | undefined {
    return this.frontends.get(key)?.target;
  }

  /** All that a target key finds, shadowed ones included. */
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

  /** Sorted once until what has the name changes, for it may be asked for as often as there are services. */
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
