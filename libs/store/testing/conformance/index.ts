/**
 * The guarantees of docs/design.md §2 as tests, for every ResourceStore with its sessions and its lease. A store that
 * passes may stand in for any other.
 *
 * Each guarantee was tried: what gives it (in brackets) was taken away, and the test named after it failed. Files without a folder are those
 * of this suite and of libs/store-postgres/src.
 *
 * 1. a stale write is a Conflict and changes nothing [the comparison of the row's revision] concurrency.ts: refuses a stale write;
 *      loses no update
 * 2. a reader that has seen revision r has seen every change up to r [the lock on the head row] commit-order.spec.ts: is the order
 *      of the revisions; watching.ts: never shows a revision before everything up to it
 * 3. a watch yields every change since a revision [deletions left out of the read] watching.ts: yields the changes since its
 *      revision
 *    … is woken at once [NOTIFY] notification.spec.ts: is woken by a notification of another process
 *    … and needs no notification [the slow poll] notification.spec.ts: finds changes without a notification
 *    … batch by batch while a large write goes on [the wake-up after each batch] notification.spec.ts: yields the first batches of
 *      a large write
 *    … without reading the log where its own process wrote, and equal to what others read [changes beyond the patches (spec, freed
 *      address); the comparison with what the reader holds; the time] recent-writes.spec.ts
 *    … in pages without a gap [the revision of a full page] notification.spec.ts: reads on in pages
 *    … or throws RelistRequired [the comparison with the floor; raising the floor] incarnations.ts: is too old once tombstones were
 *      purged
 * 4. a batch skips refused changes and names them, or writes none [undoing the others; continuing after a refusal] batches.ts:
 *      skips refused changes and names them, or writes none
 *    an equal row is not written [the comparison] rows.ts, copies.ts: I10
 *    changes of one resource in a write are decided in their order [storing each before the next is read] batches.ts: takes several
 *      changes; same-decisions.property.spec.ts
 *    a write reads only the rows that it names, however large the table [looking addresses up one by one] write-plans.spec.ts
 * 5. only the leader's epoch and holder write [the check of the epoch; of the holder] fences.ts: I8
 *    … and the next epoch waits for the last write [FOR SHARE on the leader's row] commit-order.spec.ts: I8
 *    … and begins from the one before, after its lease [both comparisons of the epoch; that of the lease] fences.ts: begins anew;
 *      is begun by one
 *    only a zone's newest session writes [the check of the session] sessions.ts: I7
 * 6. no address twice [the lookup of its holder; the addresses that the write itself frees] addresses.ts: I1; is not handed on by
 *      the write that gives it up
 *    … not even by a statement beside causeway_write [UNIQUE on the column] unique-address.spec.ts: I1
 * 7. a restored or failed-over database is a new incarnation [the database or the timeline in store_head.server]
 *      incarnations.spec.ts: begin anew in a copy; are identified by the server, its timeline and the database
 *    … and readers of the old one reload [the comparison of incarnations] incarnations.ts: of another incarnation; ends for every
 *      reader
 *    … a promoted standby too: what it lacks leaves every index, its revisions and epoch count no longer [–]
 *      test/failover/promotion.spec.ts: I8, on two servers with streaming replication
 *    … and a primary that comes back after the promotion gets no writes [the choice of the newest timeline] the same
 * 8. notes come with the write or not at all, and raise no revision [writing them; a revision for them] batches.ts: notes
 *    … and wake no watch [a NOTIFY for them] notification.spec.ts: is not woken by notes
 * 9. a write whose decision is outdated changes nothing [the check under the lock; its revision moving on with the parts of one
 *      write] fences.ts: what a write was decided from
 *    … and reads only what changed since [the index on revision] write-plans.spec.ts: that was decided from an older revision
 *
 * Not in this list, each with a test of its own: a writer stopped at any moment delays no other
 * (test/chaos/store/stopped-writer.spec.ts); migrations run once where several replicas start, a database of the next version is
 * worked on, a newer one is refused or tolerated, one of an unreleased version is refused, start-up waits with a message
 * (start.spec.ts); the pool keeps to its size, lost connections lose nothing (notification.spec.ts); a server that denies superuser
 * and ends idle connections is enough (managed-server.spec.ts); no error carries the parameters of a statement
 * (store-database.spec.ts).
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
import type { StoreFixture } from './store-fixture';
import { describeWatching } from './watching';

export { WatchReader, copyFacts, freshId, held, freshVip, put, write, type StoreFixture } from './store-fixture';

/** Declares the suite for one kind of store; `makeWorld` is called once for each group of tests. */
export function storeConformance(name: string, makeWorld: () => Promise<StoreFixture>): void {
  describe(`${name} as a ResourceStore`, () => {
    let current: StoreFixture | undefined;
    const world = (): StoreFixture => {
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
