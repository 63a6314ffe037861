import { Fenced } from '../../src/resource-store';
import type { SessionOpening, SessionRequest } from '../../src/session-store';
import { freshId, put, type StoreFixture } from './store-fixture';

function request(zone: string, more: Partial<SessionRequest> = {}): SessionRequest {
  return { zone, storeId: `store-of-${zone}`, incarnation: 'incarnation-1', epoch: 1, instance: 'zone-0', ...more };
}

function getNumber(opening: SessionOpening): number {
  if (opening.type !== 'opened') throw new Error(`not opened: ${opening.type}`);
  return opening.session;
}

/** Sessions of zones, and the writes that need one (docs/design.md §5 Newer wins). */
export function describeSessions(world: () => StoreFixture): void {
  describe('a session', () => {
    it('I7: lets the writes of the newest through and no others', async () => {
      const { store, other, sessions } = world();
      const [zone, id, area] = [freshId().name, freshId(), freshId().name];
      const first = getNumber(await sessions.open(request(zone)));
      const write = { changes: [put(id)], onRefusal: 'abort', metadata: [{ area, key: 'n', value: {} }] } as const;
      await store.write({ ...write, session: { zone, session: first } });
      const second = getNumber(await sessions.open(request(zone)));
      expect(second).toBeGreaterThan(first);
      for (const session of [
        { zone, session: first },
        { zone, session: second + 1 },
        { zone: `${zone}x`, session: second },
      ]) {
        await expect(other.write({ ...write, changes: [put(id, { late: true })], session })).rejects.toBeInstanceOf(
          Fenced,
        );
      }
      expect((await store.get(id))?.spec).toEqual({});
      await other.write({ ...write, changes: [put(id, { n: 2 })], session: { zone, session: second } });
    });

    it('is newer by the epoch of its incarnation, then by its number; another incarnation is always newer', async () => {
      const { sessions } = world();
      const zone = freshId().name;
      const first = await sessions.open(request(zone, { epoch: 5 }));
      expect(first).toEqual({ type: 'opened', session: getNumber(first) });
      expect(await sessions.open(request(zone, { epoch: 4 }))).toEqual({ type: 'older', epoch: 5 });
      expect((await sessions.session(zone))?.up).toBe(getNumber(first));
      const second = await sessions.open(request(zone, { epoch: 5 }));
      expect(second).toMatchObject({
        type: 'opened',
        previous: { session: getNumber(first), incarnation: 'incarnation-1' },
      });
      const reborn = await sessions.open(request(zone, { epoch: 1, incarnation: 'incarnation-2' }));
      expect(reborn).toMatchObject({ type: 'opened', previous: { incarnation: 'incarnation-1' } });
      expect(await sessions.session(zone)).toEqual({
        zone,
        storeId: `store-of-${zone}`,
        incarnation: 'incarnation-2',
        epoch: 1,
        instance: 'zone-0',
        up: getNumber(reborn),
        down: getNumber(reborn),
        openedAt: expect.any(Number),
      });
      expect((await sessions.sessions()).filter((one) => one.zone === zone)).toHaveLength(1);
    });

    it('belongs to the store that opened the first one, until another is adopted', async () => {
      const { store, sessions } = world();
      const zone = freshId().name;
      expect(await sessions.session(zone)).toBeUndefined();
      expect(await sessions.adopt(zone, 'another')).toBe(false);
      const first = getNumber(await sessions.open(request(zone)));
      const stranger = request(zone, { storeId: 'another' });
      expect(await sessions.open(stranger)).toEqual({ type: 'other-store', boundTo: `store-of-${zone}` });
      expect((await sessions.session(zone))?.up).toBe(first);
      expect([await sessions.adopt(zone, 'another'), await sessions.adopt(zone, 'another')]).toEqual([true, false]);
      const late = { changes: [], onRefusal: 'abort', session: { zone, session: first } } as const;
      await expect(store.write(late)).rejects.toBeInstanceOf(Fenced);
      expect(await sessions.open(request(zone))).toEqual({ type: 'other-store', boundTo: 'another' });
      expect(getNumber(await sessions.open(stranger))).toBeGreaterThan(first);
      expect(await sessions.open(request(zone))).toEqual({ type: 'other-store', boundTo: 'another' });
    });

    it('is not opened by an implausible epoch, until the operator resets it', async () => {
      const { store, other, sessions } = world();
      const zone = freshId().name;
      expect(await sessions.resetEpoch(zone)).toBeUndefined();
      const first = getNumber(await sessions.open(request(zone, { epoch: 5 })));
      const before = await sessions.session(zone);
      const claims = [1_000_006, 2 ** 40, Number.MAX_SAFE_INTEGER];
      for (const epoch of claims) {
        expect(await sessions.open(request(zone, { epoch }))).toEqual({ type: 'doubtful', epoch: 5 });
      }
      expect(await sessions.session(zone)).toEqual(before);
      await store.write({ changes: [], onRefusal: 'abort', session: { zone, session: first } });
      const high = getNumber(await sessions.open(request(zone, { epoch: 1_000_005 })));
      expect(await sessions.open(request(zone, { epoch: 6 }))).toEqual({ type: 'older', epoch: 1_000_005 });

      expect([await sessions.resetEpoch(zone), await sessions.resetEpoch(zone)]).toEqual([1_000_005, -1]);
      // I7: no write of the previous session commits any more.
      const late = { changes: [], onRefusal: 'abort', session: { zone, session: high } } as const;
      await expect(other.write(late)).rejects.toBeInstanceOf(Fenced);
      expect(getNumber(await sessions.open(request(zone, { epoch: 6 })))).toBeGreaterThan(high);
      expect(await sessions.open(request(zone, { epoch: 4 }))).toEqual({ type: 'older', epoch: 6 });
      await sessions.resetEpoch(zone);
      expect(await sessions.open(request(zone, { epoch: 2 ** 40 }))).toMatchObject({ type: 'opened' });
    });

    it('takes any epoch of a store that was adopted', async () => {
      const { sessions } = world();
      const zone = freshId().name;
      await sessions.open(request(zone, { epoch: 7 }));
      await sessions.adopt(zone, 'another');
      expect(await sessions.open(request(zone, { storeId: 'another', epoch: 1 }))).toMatchObject({ type: 'opened' });
    });

    it('is forgotten with all that it was bound to, but for its numbers', async () => {
      const { store, other, sessions } = world();
      const zone = freshId().name;
      expect(await sessions.forget(zone, 1)).toBe(false);
      const first = getNumber(await sessions.open(request(zone, { epoch: 9 })));
      const second = getNumber(await sessions.open(request(zone, { epoch: 9 })));
      expect(await sessions.forget(zone, first)).toBe(false);
      expect([await sessions.forget(zone, second), await sessions.forget(zone, second)]).toEqual([true, false]);
      expect(await sessions.session(zone)).toBeUndefined();
      const late = { changes: [], onRefusal: 'abort', session: { zone, session: second } } as const;
      await expect(store.write(late)).rejects.toBeInstanceOf(Fenced);
      const anew = await sessions.open(request(zone, { storeId: 'another', epoch: 1 }));
      expect(anew).toEqual({ type: 'opened', session: expect.any(Number) });
      expect(getNumber(anew)).toBeGreaterThan(second);
      for (const session of [first, second]) {
        await expect(other.write({ ...late, session: { zone, session } })).rejects.toBeInstanceOf(Fenced);
      }
    });

    it('goes to the next store where the zone is bound to none', async () => {
      const { store, sessions } = world();
      const zone = freshId().name;
      const first = getNumber(await sessions.open(request(zone)));
      expect([await sessions.adopt(zone, ''), await sessions.adopt(zone, '')]).toEqual([true, false]);
      await store.write({ changes: [], onRefusal: 'abort', session: { zone, session: first } });
      expect(getNumber(await sessions.open(request(zone, { storeId: 'another' })))).toBeGreaterThan(first);
      expect(await sessions.open(request(zone))).toEqual({ type: 'other-store', boundTo: 'another' });
    });

    it('has a number for each direction where the peer opens each on its own', async () => {
      const { store, sessions } = world();
      const zone = freshId().name;
      const kuma = { storeId: '', incarnation: '', epoch: 0 };
      const up = getNumber(await sessions.open(request(zone, { ...kuma, direction: 'up' })));
      const down = getNumber(await sessions.open(request(zone, { ...kuma, direction: 'down' })));
      expect(await sessions.session(zone)).toMatchObject({ up, down, storeId: '' });
      const write = (session: number): Promise<unknown> =>
        store.write({ changes: [], onRefusal: 'abort', session: { zone, session } });
      await Promise.all([write(up), write(down)]);
      const again = getNumber(await sessions.open(request(zone, { ...kuma, direction: 'up' })));
      expect(again).toBeGreaterThan(down);
      await write(down);
      await expect(write(up)).rejects.toBeInstanceOf(Fenced);
      const both = getNumber(await sessions.open(request(zone)));
      for (const old of [again, down]) await expect(write(old)).rejects.toBeInstanceOf(Fenced);
      await write(both);
    });

    it('is unique when many open at once', async () => {
      const { sessions } = world();
      const zone = freshId().name;
      const opened = await Promise.all(Array.from({ length: 8 }, () => sessions.open(request(zone))));
      const numbers = opened.map(getNumber).sort((a, b) => a - b);
      expect(new Set(numbers).size).toBe(8);
      expect((await sessions.session(zone))?.up).toBe(numbers.at(-1));
    });
  });
}
