import type { PolicyChangeSet, PolicyTable } from '@causeway/policies';
import type { ChangeSet } from '@causeway/routing';
import { DerivedTable, type Derivation, type FillRunner, type IndexReader } from '@causeway/store';
import type { FollowedRoutes } from '../routes/followed-routes';
import { MeshPolicies, type MeshPoliciesOptions } from './mesh-policies';

/** Dependencies of `FollowedPolicies`. */
export interface FollowedPoliciesOptions extends Omit<MeshPoliciesOptions, 'index'> {
  readonly index: IndexReader;
  /** Routes of the same index, updated before the policies. */
  readonly routes: FollowedRoutes;
  readonly run: FillRunner;
  readonly maxAtOnce?: number | undefined;
}

/** The policy table of a process, derived from the index and the routes. */
export class FollowedPolicies extends DerivedTable<MeshPolicies, PolicyChangeSet, ChangeSet> {
  constructor(options: FollowedPoliciesOptions) {
    const { index, routes, run, maxAtOnce } = options;
    super({ index, run, maxAtOnce, source: routes, derivation: derivePolicies(options) });
  }

  /** The current table: a different object after a reload. Empty before the first fill. */
  get table(): PolicyTable {
    return this.served.table;
  }
}

function derivePolicies(options: FollowedPoliciesOptions): Derivation<MeshPolicies, PolicyChangeSet, ChangeSet> {
  return {
    empty: () => new MeshPolicies(options, options.routes.table),
    fill: (policies) => policies.load(),
    apply: (policies, event, routes) => {
      const affected = policies.apply(event, routes);
      const { rules, backends, meshes, policies: moved } = affected;
      return rules.length + backends.length + meshes.length + moved.length > 0 ? affected : undefined;
    },
    estimateCost: (policies, event, routes) => policies.getCost(event, routes),
  };
}
