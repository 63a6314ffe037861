import type { PoliciesAffected, PolicyTable } from '@causeway/policies';
import type { Affected } from '@causeway/routing';
import { DerivedTable, type Derivation, type FillRunner, type IndexReader } from '@causeway/store';
import type { FollowedRoutes } from '../routes/followed-routes';
import { MeshPolicies, type MeshPoliciesOptions } from './mesh-policies';

/** What policies are followed in. */
export interface FollowedPoliciesOptions extends Omit<MeshPoliciesOptions, 'index'> {
  readonly index: IndexReader;
  /** The routes of the same index, made before the policies. */
  readonly routes: FollowedRoutes;
  readonly run: FillRunner;
  readonly maxAtOnce?: number | undefined;
}

/** The one table of policies of a process, over its routes. */
export class FollowedPolicies extends DerivedTable<MeshPolicies, PoliciesAffected, Affected> {
  constructor(options: FollowedPoliciesOptions) {
    const { index, routes, run, maxAtOnce } = options;
    super({ index, run, maxAtOnce, source: routes, derivation: derivePolicies(options) });
  }

  /** The table as it is now: another one after a reload. Empty before the first fill. */
  get table(): PolicyTable {
    return this.served.table;
  }
}

function derivePolicies(options: FollowedPoliciesOptions): Derivation<MeshPolicies, PoliciesAffected, Affected> {
  return {
    empty: () => new MeshPolicies(options, options.routes.table),
    fill: (policies) => policies.load(),
    apply: (policies, event, routes) => {
      const affected = policies.apply(event, routes);
      const { rules, backends, meshes, policies: moved } = affected;
      return rules.length + backends.length + meshes.length + moved.length > 0 ? affected : undefined;
    },
    costOf: (policies, event, routes) => policies.costOf(event, routes),
  };
}
