import type { LeaderLease } from '@causeway/runtime';
import { Fenced } from '../resource-store';
import { freshId, put, type StoreWorld } from './store-world';

/** Takes over once the lease is free. */
async function lead(lease: LeaderLease, holder: string, leaseMs = 60_000): Promise<number> {
  for (;;) {
    const standing = await lease.readEpoch();
    const epoch = await lease.takeOver(standing.epoch, holder, leaseMs);
    if (epoch !== undefined) return epoch;
  }
}

/** Guarantee 5: the epoch of a leader, and the lease beside it (docs/design.md §3). */
export function describeFences(world: () => StoreWorld): void {
  describe('an epoch', () => {
    it('I8: lets its own writes through, and none of the epochs before', async () => {
      const { store, other, lease } = world();
      const [id, area] = [freshId(), freshId().name];
      const first = await lead(lease, 'a');
      const mine = { epoch: first, holder: 'a' };
      await store.write({ changes: [put(id)], onRefusal: 'abort', fence: mine });
      await lease.release(first, 'a');
      const second = await lead(lease, 'b');
      expect(second).toBe(first + 1);
      const before = await store.head();
      const late = {
        changes: [put(id, { late: true })],
        notes: [{ area, key: 'n', value: { late: true } }],
        fence: mine,
      };
      for (const onRefusal of ['abort', 'skip'] as const) {
        await expect(store.write({ ...late, onRefusal })).rejects.toBeInstanceOf(Fenced);
        await expect(other.write({ ...late, changes: [], onRefusal })).rejects.toBeInstanceOf(Fenced);
      }
      for (const wrong of [
        { epoch: second, holder: 'a' },
        { epoch: second + 1, holder: 'b' },
        { epoch: first, holder: 'b' },
      ]) {
        await expect(store.write({ ...late, onRefusal: 'abort', fence: wrong })).rejects.toBeInstanceOf(Fenced);
      }
      expect(await store.head()).toEqual(before);
      expect(await store.note(area, 'n')).toBeUndefined();
      const now = { epoch: second, holder: 'b' };
      expect((await store.write({ changes: [], onRefusal: 'abort', fence: now })).revision).toBe(before.revision);
      await other.write({ ...late, onRefusal: 'abort', fence: now });
      await lease.release(second, 'b');
    });

    it('is begun by one candidate, after the epoch before, once the lease has expired or was released', async () => {
      const { lease } = world();
      const epoch = await lead(lease, 'a');
      const standing = await lease.readEpoch();
      expect(standing).toEqual({ epoch, holder: 'a', remaining: expect.any(Number) });
      expect(standing.remaining).toBeGreaterThan(0);
      expect(standing.remaining).toBeLessThanOrEqual(60_000);
      expect(await lease.takeOver(epoch, 'b', 60_000)).toBeUndefined();
      await lease.release(epoch, 'b'); // not its to release
      expect(await lease.takeOver(epoch, 'b', 60_000)).toBeUndefined();
      await lease.release(epoch, 'a');
      expect(await lease.readEpoch()).toEqual({ epoch, holder: 'a', remaining: 0 });
      expect(await lease.takeOver(epoch - 1, 'b', 60_000)).toBeUndefined();
      const tries = await Promise.all(['b', 'c', 'd', 'e'].map((holder) => lease.takeOver(epoch, holder, 60_000)));
      expect(tries.filter((one) => one !== undefined)).toEqual([epoch + 1]);
      const { holder } = await lease.readEpoch();
      await lease.release(epoch + 1, holder);
    });

    it('begins anew each time, also for the same holder', async () => {
      const { lease } = world();
      const first = await lead(lease, 'a');
      await lease.release(first, 'a');
      const second = await lead(lease, 'a');
      expect(second).toBe(first + 1);
      await lease.release(second, 'a');
    });

    it('is renewed by who holds it, and ends when the lease is let expire', async () => {
      const { lease } = world();
      const first = await lead(lease, 'a', 1);
      const second = await lead(lease, 'b', 60_000); // the lease of 1 ms has run out
      expect(second).toBe(first + 1);
      expect(await lease.renew(first, 'a', 60_000)).toBe(false);
      expect(await lease.renew(second, 'a', 60_000)).toBe(false);
      expect(await lease.renew(second, 'b', 30_000)).toBe(true);
      expect((await lease.readEpoch()).remaining).toBeLessThanOrEqual(30_000);
      await lease.release(second, 'b');
      expect(await lease.renew(second, 'b', 60_000)).toBe(false); // a renewal that comes late revives nothing
      expect((await lease.readEpoch()).remaining).toBe(0);
    });

    it('notifies waiting candidates when it is released', async () => {
      const { lease } = world();
      const epoch = await lead(lease, 'a');
      const notified = new Promise<void>((resolve) => {
        const end = lease.onRelease(() => {
          end();
          resolve();
        });
      });
      await lease.release(epoch, 'a');
      await notified;
    });
  });
}
