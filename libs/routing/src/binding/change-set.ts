import type { FrontendGroup } from './frontend-group';
import { getOrInsert, type ResourceKey } from '@causeway/resources';

/**
 * Everything that a change may affect: bindings of (frontend, group), the status of routes by their keys, and services and
 * Gateways by their keys: added, removed, with other ports, or with a name that another one took or released.
 */
export interface ChangeSet {
  readonly groups: readonly { readonly frontend: ResourceKey; readonly group: FrontendGroup }[];
  readonly routes: readonly ResourceKey[];
  readonly frontends: readonly ResourceKey[];
}

/** Collects what one change or a batch of changes may affect; looked up once at the end. */
export class ChangeSetBuilder {
  /** Bindings of frontends that no longer have the target under which they were found. */
  readonly groups = new Map<string, { readonly frontend: ResourceKey; readonly group: FrontendGroup }>();
  readonly routes = new Set<ResourceKey>();
  /** Changed services and Gateways. */
  readonly frontends = new Set<ResourceKey>();
  /** Groups of all frontends of a target, and whether the status of each route there may differ. */
  readonly targets = new Map<string, Map<FrontendGroup, boolean>>();
  /** Meshes in which any route may be affected: all routes, or those bound to Gateways. */
  readonly meshes = new Map<string, 'all' | 'gateways'>();

  addGroup(frontend: ResourceKey, group: FrontendGroup): void {
    this.groups.set(formatBindingKey(frontend, group), { frontend, group });
  }

  addTarget(target: string, group: FrontendGroup, withRoutes: boolean): void {
    const groups = getOrInsert(this.targets, target, () => new Map<FrontendGroup, boolean>());
    groups.set(group, withRoutes || groups.get(group) === true);
  }

  addMesh(mesh: string, which: 'all' | 'gateways'): void {
    if (which === 'all' || !this.meshes.has(mesh)) this.meshes.set(mesh, which);
  }
}

/** Returns the key of the bindings of one frontend and group. */
export const formatBindingKey = (frontend: ResourceKey, group: FrontendGroup): string => `${frontend} ${group}`;
