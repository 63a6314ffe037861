/**
 * The guarantees of docs/design.md §2 as tests, for every ResourceStore with its sessions and its lease. A store that
 * passes may stand in for any other.
 */
import { describeAddresses } from './addresses';
import { describeAgentLeases } from './agent-leases';
import { describeAudit } from './audit';
import { describeBatches } from './batches';
import { describeConcurrency } from './concurrency';
import { describeCopies } from './copies';
import { describeCountedOrders } from './counted-orders';
import { describeFences } from './fences';
import { describeIncarnations } from './incarnations';
import { describeProxySessions } from './proxy-sessions';
import { describeRows } from './rows';
import { describeSessions } from './sessions';
import type { StoreWorld } from './store-world';
import { describeWatching } from './watching';

export { WatchReader, copyFacts, freshId, held, freshVip, put, write, type StoreWorld } from './store-world';

/** Declares the suite for one kind of store; `makeWorld` is called once a group of tests. */
export function storeConformance(name: string, makeWorld: () => Promise<StoreWorld>): void {
  describe(`${name} as a ResourceStore`, () => {
    let current: StoreWorld | undefined;
    const world = (): StoreWorld => {
      if (!current) throw new Error('there is no world outside of tests');
      return current;
    };
    beforeAll(async () => void (current = await makeWorld()));
    afterAll(async () => current?.close());

    describeConcurrency(world);
    describeRows(world);
    describeCopies(world);
    describeCountedOrders(world);
    describeAddresses(world);
    describeWatching(world);
    describeBatches(world);
    describeFences(world);
    describeSessions(world);
    describeProxySessions(world);
    describeAgentLeases(world);
    describeIncarnations(world);
    describeAudit(world);
  });
}
