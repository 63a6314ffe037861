import { getOrInsert } from '@causeway/resources';

/**
 * Possible effects of a change: bindings of (frontend, group), the status of routes by their keys, and services and
 * Gateways by their keys: added, removed, with other ports, or with a name that another one took or released.
 */
export interface ChangeSet {
  readonly groups: readonly { readonly frontend: string; readonly group: string }[];
  readonly routes: readonly string[];
  readonly frontends: readonly string[];
}

/** Collects what one change, or several as one, may have affected; looked up once at the end. */
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
