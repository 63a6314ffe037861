import { compareIdentities, identityKey, type Identity } from '@causeway/resources';
import type { Gateway, Service } from '../model';
import { gatewayFrontend, serviceFrontend, targetKey, type Frontend } from './frontend';

/**
 * Services and Gateways by the names that references use, as one zone resolves them: what was made in the zone shadows
 * synced resources of the same namespace and display name; without it all synced ones are found (T002, edge rules).
 */
export class Targets {
  private readonly frontends = new Map<string, { readonly target: string; readonly frontend: Frontend }>();
  private readonly byTarget = new Map<string, Map<string, Frontend>>();

  /** `zone` is where names are resolved; empty on the global. */
  constructor(private readonly zone: string) {}

  /** Keeps a service in place of its older version; returns the target keys that find another service now. */
  putService(service: Service): readonly string[] {
    const { id, displayName } = service;
    const kind = id.kind === 'MeshMultiZoneService' ? 'MeshMultiZoneService' : 'MeshService';
    return this.put(targetKey(kind, id.mesh, id.namespace, displayName), serviceFrontend(service));
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
    this.frontends.delete(key);
    return [known.target];
  }

  get(key: string): Frontend | undefined {
    return this.frontends.get(key)?.frontend;
  }

  /** The target key by which references find this frontend; undefined where it is unknown. */
  targetOf(key: string): string | undefined {
    return this.frontends.get(key)?.target;
  }

  /** All that a target key finds, shadowed ones included. */
  named(target: string): Iterable<Frontend> {
    return this.byTarget.get(target)?.values() ?? [];
  }

  /** What a target key finds in this zone, in the order of identities; empty where nothing has the name. */
  visible(target: string): readonly Frontend[] {
    const all = [...this.named(target)];
    if (all.length < 2) return all;
    const local = all.filter(({ id }) => id.zone === this.zone);
    return (local.length > 0 ? local : all).sort((a, b) => compareIdentities(a.id, b.id));
  }

  private put(target: string, frontend: Frontend): readonly string[] {
    const before = this.targetOf(frontend.key);
    const changed = before === undefined || before === target ? [target] : [...this.remove(frontend.id), target];
    this.frontends.set(frontend.key, { target, frontend });
    const siblings = this.byTarget.get(target) ?? new Map<string, Frontend>();
    this.byTarget.set(target, siblings.set(frontend.key, frontend));
    return changed;
  }
}
