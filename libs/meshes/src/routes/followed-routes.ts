import type { Affected, RouteTable } from '@causeway/routing';
import { DerivedTable, type Derivation, type FillRunner, type IndexReader } from '@causeway/store';
import { MeshRoutes, type MeshRoutesOptions } from './mesh-routes';

/** What listeners are told once the table holds it: what a change may have changed, or that everything was derived anew. */
export type RoutesChange = Affected | 'reloaded';

/** What routes are followed in. */
export interface FollowedRoutesOptions extends Omit<MeshRoutesOptions, 'index'> {
  readonly index: IndexReader;
  readonly run: FillRunner;
  readonly maxAtOnce?: number | undefined;
}

/** The one table of routes of a process. */
export class FollowedRoutes extends DerivedTable<MeshRoutes, Affected> {
  constructor({ index, meshes, zone, run, maxAtOnce }: FollowedRoutesOptions) {
    super({ index, run, maxAtOnce, derivation: deriveRoutes({ index, meshes, zone }) });
  }

  /** The table as it is now: another one after a reload. Empty before the first fill. */
  get table(): RouteTable {
    return this.served.table;
  }
}

function deriveRoutes(options: MeshRoutesOptions): Derivation<MeshRoutes, Affected> {
  return {
    empty: () => new MeshRoutes(options),
    fill: (routes) => routes.load(),
    apply: (routes, event) => {
      const affected = routes.apply(event);
      const { groups, routes: moved, frontends } = affected;
      return groups.length + moved.length + frontends.length > 0 ? affected : undefined;
    },
    costOf: (routes, event) => routes.costOf(event),
  };
}
