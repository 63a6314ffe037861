import type { LeaderLease, LeaderWitness, WitnessChange } from '@causeway/runtime';
import { RefusedWrite } from '../../src/refused-write';
import { Fenced, type ReadSet, type WriteRequest, type WriteResult } from '../../src/resource-store';
import { freshId, put, type StoreFixture } from './store-fixture';

/** Takes over once the lease is free. */
async function lead(lease: LeaderLease, holder: string, leaseMs = 60_000): Promise<number> {
  for (;;) {
    const standing = await lease.readEpoch();
    const epoch = await lease.takeOver(standing.epoch, holder, leaseMs);
    if (epoch !== undefined) return epoch;
  }
}

/** Guarantee 5: the epoch of a leader, and the lease beside it (docs/design.md §3). */
export function describeFences(world: () => StoreFixture): void {
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
        metadata: [{ area, key: 'n', value: { late: true } }],
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
      expect(await store.readMetadata(area, 'n')).toBeUndefined();
      const now = { epoch: second, holder: 'b' };
      expect((await store.write({ changes: [], onRefusal: 'abort', fence: now })).revision).toBe(before.revision);
      await other.write({ ...late, onRefusal: 'abort', fence: now });
      await lease.release(second, 'b');
    });

    it('is begun by one candidate, after the epoch before, once the lease has expired or was released', async () => {
      const { lease } = world();
      const epoch = await lead(lease, 'a');
      const standing = await lease.readEpoch();
      expect(standing).toEqual({ epoch, holder: 'a', witness: 'lock', remaining: expect.any(Number) });
      expect(standing.remaining).toBeGreaterThan(0);
      expect(standing.remaining).toBeLessThanOrEqual(60_000);
      expect(await lease.takeOver(epoch, 'b', 60_000)).toBeUndefined();
      await lease.release(epoch, 'b'); // Not this candidate's to release.
      expect(await lease.takeOver(epoch, 'b', 60_000)).toBeUndefined();
      await lease.release(epoch, 'a');
      expect(await lease.readEpoch()).toEqual({ epoch, holder: 'a', witness: 'lock', remaining: 0 });
      expect(await lease.takeOver(epoch - 1, 'b', 60_000)).toBeUndefined();
      const tries = await Promise.all(['b', 'c', 'd', 'e'].map((holder) => lease.takeOver(epoch, holder, 60_000)));
      expect(tries.filter((one) => one !== undefined)).toEqual([epoch + 1]);
      const { holder } = await lease.readEpoch();
      await lease.release(epoch + 1, holder);
    });

    it('names the witness that counts, which is compared and set with it', async () => {
      const { lease } = world();
      const first = await lead(lease, 'a');
      await lease.release(first, 'a');
      const change = (from: LeaderWitness, to: LeaderWitness): WitnessChange => ({ from, to });
      expect(await lease.takeOver(first, 'b', 60_000, change('lease', 'lease'))).toBeUndefined();
      expect(await lease.takeOver(first, 'b', 60_000, change('lock', 'lease'))).toBe(first + 1);
      expect(await lease.readEpoch()).toMatchObject({ epoch: first + 1, holder: 'b', witness: 'lease' });
      await lease.release(first + 1, 'b');
      // A candidate that does not know the current witness takes over nothing, and neither does one that read another one.
      expect(await lease.takeOver(first + 1, 'c', 60_000)).toBeUndefined();
      expect(await lease.takeOver(first + 1, 'c', 60_000, change('lock', 'lease'))).toBeUndefined();
      expect(await lease.takeOver(first + 1, 'c', 60_000, change('lease', 'lease'))).toBe(first + 2);
      expect(await lease.returnToLock(first + 1, 'b')).toBe(false);
      expect(await lease.returnToLock(first + 2, 'b')).toBe(false);
      expect(await lease.readEpoch()).toMatchObject({ epoch: first + 2, witness: 'lease' });
      for (let time = 0; time < 2; time++) {
        expect(await lease.returnToLock(first + 2, 'c')).toBe(true);
        expect(await lease.readEpoch()).toMatchObject({ epoch: first + 2, holder: 'c', witness: 'lock' });
      }
      await lease.release(first + 2, 'c');
      expect(await lease.takeOver(first + 2, 'd', 60_000, change('lease', 'lease'))).toBeUndefined();
      expect(await lease.takeOver(first + 2, 'd', 60_000)).toBe(first + 3);
      await lease.release(first + 3, 'd');
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
      const second = await lead(lease, 'b', 60_000); // The lease of 1 ms has expired.
      expect(second).toBe(first + 1);
      expect(await lease.renew(first, 'a', 60_000)).toBe(false);
      expect(await lease.renew(second, 'a', 60_000)).toBe(false);
      expect(await lease.renew(second, 'b', 30_000)).toBe(true);
      expect((await lease.readEpoch()).remaining).toBeLessThanOrEqual(30_000);
      await lease.release(second, 'b');
      expect(await lease.renew(second, 'b', 60_000)).toBe(false); // A late renewal revives nothing.
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

  describe('what a write was decided from', () => {
    const listRefusals = ({ results }: WriteResult): unknown[] =>
      results.map((result) => (result.type === 'refused' ? result.refusal : result.type));

    it('must be unchanged: resources of some kinds, or of a mesh', async () => {
      const { store, other } = world();
      const [id, inMesh] = [freshId(), { ...freshId(), mesh: freshId().name }];
      const rule = { ...freshId('Rule'), mesh: '' };
      const write = (unchanged: ReadSet, onRefusal: WriteRequest['onRefusal'] = 'skip'): Promise<WriteResult> =>
        store.write({ changes: [put(id, { n: unchanged.revision })], onRefusal, unchanged });
      await other.write({ changes: [put(rule), put(inMesh)], onRefusal: 'abort' });
      const { revision } = await store.head();
      await other.write({ changes: [put(freshId())], onRefusal: 'abort' });
      for (const unchanged of [
        { revision, kinds: ['Rule', 'Law'] },
        { revision: revision + 1, mesh: inMesh.mesh },
      ])
        expect(listRefusals(await write(unchanged))).toEqual(['written']);

      for (const change of [put(rule, { n: 2 }), { type: 'delete', id: rule, expect: 'any' }, put(rule)] as const) {
        const read = (await store.head()).revision;
        await other.write({ changes: [change], onRefusal: 'abort' });
        const after = await store.head();
        expect(listRefusals(await write({ revision: read, kinds: ['Law', 'Rule'] }))).toEqual(['outdated']);
        await expect(write({ revision: read, kinds: ['Rule'] }, 'abort')).rejects.toBeInstanceOf(RefusedWrite);
        expect(await store.head()).toEqual(after);
        expect(listRefusals(await write({ revision: read, kinds: ['Law'], mesh: inMesh.mesh }))).toEqual(['written']);
      }
      const read = (await store.head()).revision;
      await other.write({ changes: [put(inMesh, { n: 1 })], onRefusal: 'abort' });
      expect(listRefusals(await write({ revision: read, mesh: inMesh.mesh }))).toEqual(['outdated']);
      expect(listRefusals(await write({ revision: read, mesh: 'other' }))).toEqual(['written']);
    });

    it('may be changed by the write itself, also where it is written in parts', async () => {
      const { store } = world();
      const { revision } = await store.head();
      const changes = Array.from({ length: 1_100 }, () => put({ ...freshId('Rule'), mesh: '' }));
      const durable: unknown[] = [];
      const written = await store.write({
        changes,
        onRefusal: 'skip',
        unchanged: { revision, kinds: ['Rule'] },
        onDurable: (results) => durable.push(...results),
      });
      expect(new Set(listRefusals(written))).toEqual(new Set(['written']));
      const again = await store.write({
        changes,
        onRefusal: 'skip',
        unchanged: { revision, kinds: ['Rule'] },
        onDurable: (results) => durable.push(...results),
      });
      expect(new Set(listRefusals(again))).toEqual(new Set(['outdated']));
      expect([again.results.length, durable.length]).toEqual([1_100, 2_200]);
    });

    it('holds for one of two writers at a time', async () => {
      const { store, other } = world();
      const rule = { ...freshId('Rule'), mesh: '' };
      for (let round = 0; round < 20; round++) {
        const { revision } = await store.head();
        const each = [store, other].map((one) =>
          one.write({
            changes: [put(rule, { round, by: one === store })],
            onRefusal: 'skip',
            unchanged: { revision, kinds: ['Rule'] },
          }),
        );
        expect((await Promise.all(each)).flatMap(listRefusals).sort()).toEqual(['outdated', 'written']);
      }
    });
  });
}
