import { getOrInsert } from '@causeway/resources';

/**
 * What a change may have changed: bindings of (frontend, group), the status of routes by their keys, and services and Gateways by their
 * keys: they came, went, or have other ports, or another one took or gave back their name.
 */
export interface ChangeSet {
  readonly groups: readonly { readonly frontend: string; readonly group: string }[];
  readonly routes: readonly string[];
  readonly frontends: readonly string[];
}

/** What one change touches, or several done as one: collected first, looked up once. */
export class ChangeSetBuilder {
  /** Bindings of frontends that no longer have the target by which they were found. */
  readonly groups = new Map<string, { readonly frontend: string; readonly group: string }>();
  readonly routes = new Set<string>();
  /** Services and Gateways that changed. */
  readonly frontends = new Set<string>();
  /** Groups of all frontends of a target, and whether the status of each route there may differ. */
  readonly targets = new Map<string, Map<string, boolean>>();
  /** Meshes each route of which may differ: all of them, or those that are bound to Gateways. */
  readonly meshes = new Map<string, 'all' | 'gateways'>();

  addGroup(frontend: string, group: string): void {
    this.groups.set(boundKey(frontend, group), { frontend, group });
  }

  addTarget(target: string, group: string, withRoutes: boolean): void {
    const groups = getOrInsert(this.targets, target, () => new Map<string, boolean>());
    groups.set(group, withRoutes || groups.get(group) === true);
  }

  addMesh(mesh: string, which: 'all' | 'gateways'): void {
    if (which === 'all' || !this.meshes.has(mesh)) this.meshes.set(mesh, which);
  }
}

/** The key of the bindings of one frontend and group. */
export const boundKey = (frontend: string, group: string): string => `${frontend} ${group}`;
