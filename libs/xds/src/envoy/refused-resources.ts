import type { Violation } from '@causeway/resources';
import type { RefusedResource } from '../server/resource-source';

/** Most refused resources that are remembered of one scope. */
const MOST_REFUSED = 1_000;

/** Resources that break Envoy's rules, by scope: those of a scope concern all proxies that are served from it. */
export class RefusedResources {
  private readonly byScope = new Map<string, Map<string, RefusedResource>>();

  add(scope: string, { type, name }: Pick<RefusedResource, 'type' | 'name'>, violations: readonly Violation[]): void {
    const known = this.byScope.get(scope) ?? new Map<string, RefusedResource>();
    this.byScope.set(scope, known);
    if (known.size < MOST_REFUSED) known.set(`${type} ${name}`, { type, name, violations });
  }

  /** The resource is in order, or gone. */
  remove(scope: string, { type, name }: Pick<RefusedResource, 'type' | 'name'>): void {
    const known = this.byScope.get(scope);
    if (known?.delete(`${type} ${name}`) && known.size === 0) this.byScope.delete(scope);
  }

  /** Of all scopes. */
  get size(): number {
    return [...this.byScope.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Costs nothing where nothing is refused. */
  in(scopes: readonly string[]): readonly RefusedResource[] {
    if (this.byScope.size === 0) return NONE;
    return scopes.flatMap((scope) => [...(this.byScope.get(scope)?.values() ?? [])]);
  }
}

const NONE: readonly RefusedResource[] = [];
