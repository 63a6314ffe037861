import type { Logger } from '@causeway/runtime';
import { DEFAULT_LIMITS, type RestDependencies, type RestLimits } from './dependencies';
import { Access } from './http/access';
import { RouteTable } from './http/route-table';
import { Freshness } from './read/freshness';
import { Lister } from './read/lister';
import { OrderedKinds } from './read/ordered-kinds';
import { ResourceReads } from './read/resource-reads';
import { ResourceTexts } from './read/resource-text';
import { ResourceWrites } from './write/resource-writes';

/** The objects behind the endpoints; plain, so that tests make them without Nest. */
export interface RestParts {
  readonly limits: RestLimits;
  readonly logger: Logger;
  readonly routes: RouteTable;
  readonly reads: ResourceReads;
  readonly writes: ResourceWrites;
  /** Stops following the index. */
  readonly close: () => void;
}

/** Builds everything behind the endpoints; it follows the index until `close`. */
export function assembleRest(deps: RestDependencies): RestParts {
  const { registry, cp, index, admission, clock, logger } = deps;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const access = new Access(deps.access);
  const freshness = new Freshness(index, clock, limits.revisionWait);
  const orders = new OrderedKinds(index);
  const texts = new ResourceTexts(registry);
  const lister = new Lister(index, orders);
  const stops = [freshness.follow(), orders.follow()];
  return {
    limits,
    logger,
    routes: new RouteTable(registry),
    reads: new ResourceReads({ registry, cp, index, lister, texts, freshness, access }),
    writes: new ResourceWrites({ registry, admission, access, freshness }),
    close: () => stops.forEach((stop) => stop()),
  };
}
