import type { ResourceKey } from '@causeway/resources';
import { isIP } from 'node:net';
import type { Destination } from './destination';

/** Indexes services by the host names in their destinations: the services to recompute when the addresses of a name change. */
export class HostDependents {
  /** A counter that grows whenever a name comes or goes. */
  version = 0;
  private readonly byHost = new Map<string, Set<ResourceKey>>();
  private readonly hostsByDependent = new Map<ResourceKey, ReadonlySet<string>>();

  /** The names of all services. */
  names(): Iterable<string> {
    return this.byHost.keys();
  }

  /** Returns the identity keys of the services that have one of these names. */
  of(names: readonly string[]): ReadonlySet<ResourceKey> {
    return new Set(names.flatMap((name) => [...(this.byHost.get(name) ?? [])]));
  }

  /** Replaces the destinations of a service, given by its identity key. */
  replace(key: ResourceKey, destinations: readonly Destination[]): void {
    const names = destinations.flatMap(({ hosts }) => [...(hosts?.keys() ?? [])]).filter((host) => isIP(host) === 0);
    const [before, after] = [this.hostsByDependent.get(key) ?? new Set<string>(), new Set(names)];
    if (before.size + after.size === 0) return;
    for (const name of after) if (!before.has(name)) this.add(name, key);
    for (const name of before) if (!after.has(name)) this.remove(name, key);
    if (after.size > 0) this.hostsByDependent.set(key, after);
    else this.hostsByDependent.delete(key);
  }

  private add(name: string, key: ResourceKey): void {
    const known = this.byHost.get(name);
    if (known) return void known.add(key);
    this.byHost.set(name, new Set([key]));
    this.version += 1;
  }

  private remove(name: string, key: ResourceKey): void {
    const known = this.byHost.get(name);
    known?.delete(key);
    if (known?.size !== 0) return;
    this.byHost.delete(name);
    this.version += 1;
  }
}
