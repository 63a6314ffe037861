import { identityKey, isMadeHere, laterOrder, type ControlPlane } from '@causeway/resources';
import { splitIntoBatches } from '@causeway/runtime';
import type { Fence, IndexReader, PatchChange, ResourceStore } from '@causeway/store';
import type { CountedOrderSink } from '../session/outbound/outbound-half';
import type { CountedOrder } from '../wire/request';

/** Maximum number of changes in one write. */
const MAX_BATCH = 500;

export interface CountedOrdersOptions {
  readonly store: Pick<ResourceStore, 'write'>;
  readonly index: IndexReader;
  readonly zone: string;
  readonly fence: Fence;
  /** Ends the session (see endOnStoreFailure). */
  readonly onStoreFailure: (what: string, error: unknown) => void;
}

/**
 * Applies the creation orders that count from the global, so that the zone of origin ranks its resources as all others
 * do (docs/adr/0012-the-order-that-counts.md, I3). Only resources created here change, and they only become younger. A
 * failed write ends the session, because the global sends the orders again only in the next one.
 */
export class CountedOrders implements CountedOrderSink {
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly options: CountedOrdersOptions) {}

  take(kind: string, orders: readonly CountedOrder[]): void {
    const changes = orders.flatMap((order) => this.findChange(kind, order) ?? []);
    if (changes.length > 0) this.writing = this.writing.then(() => this.write(changes));
  }

  settled(): Promise<void> {
    return this.writing;
  }

  private findChange(kind: string, { creationOrder, ...name }: CountedOrder): PatchChange | undefined {
    const { index, zone } = this.options;
    const cp: ControlPlane = { role: 'zone', zone, federated: true };
    const id = { kind, ...name };
    const held = index.byIdentityKey(identityKey(id));
    if (!held || !isMadeHere(held, cp) || laterOrder(held.creationOrder, creationOrder) === held.creationOrder) {
      return undefined;
    }
    return { type: 'patch', id, expect: 'any', creationOrder };
  }

  private async write(changes: readonly PatchChange[]): Promise<void> {
    const { store, fence, onStoreFailure } = this.options;
    try {
      for (const batch of splitIntoBatches(changes, MAX_BATCH))
        await store.write({ changes: batch, onRefusal: 'skip', fence });
    } catch (error) {
      onStoreFailure('creation orders that count', error);
    }
  }
}
