import type { ChangeSet, BindingTable } from '@causeway/routing';
import { DerivedTable, type Derivation, type FillRunner, type IndexReader } from '@causeway/store';
import { MeshRoutes, type MeshRoutesOptions } from './mesh-routes';

/** Dependencies of `FollowedRoutes`. */
export interface FollowedRoutesOptions extends Omit<MeshRoutesOptions, 'index'> {
  readonly index: IndexReader;
  readonly run: FillRunner;
  readonly maxAtOnce?: number | undefined;
}

/** The route table of a process. */
export class FollowedRoutes extends DerivedTable<MeshRoutes, ChangeSet> {
  constructor({ index, meshes, zone, run, maxAtOnce }: FollowedRoutesOptions) {
    super({ index, run, maxAtOnce, derivation: deriveRoutes({ index, meshes, zone }) });
  }

  /** The current table: a different object after a reload. Empty before the first fill. */
  get table(): BindingTable {
    return this.served.table;
  }
}

function deriveRoutes(options: MeshRoutesOptions): Derivation<MeshRoutes, ChangeSet> {
  return {
    empty: () => new MeshRoutes(options),
    fill: (routes) => routes.load(),
    apply: (routes, event) => {
      const affected = routes.apply(event);
      const { groups, routes: moved, frontends } = affected;
      return groups.length + moved.length + frontends.length > 0 ? affected : undefined;
    },
    estimateCost: (routes, event) => routes.getCost(event),
  };
}
