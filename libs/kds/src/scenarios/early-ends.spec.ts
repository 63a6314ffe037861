import type { ResourceStore } from '@causeway/store';
import { type IndexListener, MemoryDisk } from '@causeway/store/testing';
import { memoryState } from '../../../../test/support/plane-state';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';

describe('a stream that ends while it is opened', () => {
  it('leaves no listener on the index of the global', async () => {
    let open: () => void = () => undefined;
    let asked = 0;
    let gate: Promise<void> | undefined;
    const state = memoryState(new MemoryDisk());
    const store: ResourceStore = Object.create(state.store, {
      compactionRevision: {
        value: async () => {
          asked++;
          await gate;
          return state.store.compactionRevision();
        },
      },
    });
    const global = new TestGlobal({ store }, state);
    const east = new TestZone('east');
    const listeners = new Set<IndexListener>();
    const subscribe = global.index.subscribe.bind(global.index);
    global.index.subscribe = (listener) => {
      listeners.add(listener);
      const end = subscribe(listener);
      return () => {
        listeners.delete(listener);
        end();
      };
    };
    try {
      await global.put('Mesh', 'default', {});
      await global.serve();
      const before = listeners.size;
      gate = new Promise((resolve) => (open = resolve));
      await east.join(global);
      await until('both streams are being opened', () => asked >= 2);
      await east.leave();
      await global.left('east');
      open();
      gate = undefined;
      // The streams of a later session are opened after those.
      await east.join(global);
      await east.holds(global.id('Mesh', 'default'));
      await east.leave();
      await global.left('east');
      expect(listeners.size).toBe(before);
    } finally {
      open();
      await east.close();
      await global.close();
    }
  });
});
