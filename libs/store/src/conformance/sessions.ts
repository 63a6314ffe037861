import { Fenced } from '../resource-store';
import type { SessionOpening, SessionRequest } from '../session-store';
import { freshId, put, type StoreWorld } from './store-world';

function request(zone: string, more: Partial<SessionRequest> = {}): SessionRequest {
  return { zone, storeId: `store-of-${zone}`, incarnation: 'life-1', epoch: 1, instance: 'zone-0', ...more };
}

function numberOf(opening: SessionOpening): number {
  if (opening.type !== 'opened') throw new Error(`not opened: ${opening.type}`);
  return opening.session;
}

/** Sessions of zones, and the writes that need one (design.md §5 Newer wins). */
export function describeSessions(world: () => StoreWorld): void {
  describe('a session', () => {
    it('I7: lets the writes of the newest through and no others', async () => {
      const { store, other, sessions } = world();
      const [zone, id, area] = [freshId().name, freshId(), freshId().name];
      const first = numberOf(await sessions.open(request(zone)));
      const write = { changes: [put(id)], onRefusal: 'abort', notes: [{ area, key: 'n', value: {} }] } as const;
      await store.write({ ...write, session: { zone, session: first } });
      const second = numberOf(await sessions.open(request(zone)));
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

    it('is newer by the epoch of its life, then by its number; another life is always newer', async () => {
      const { sessions } = world();
      const zone = freshId().name;
      const first = await sessions.open(request(zone, { epoch: 5 }));
      expect(first).toEqual({ type: 'opened', session: numberOf(first) });
      expect(await sessions.open(request(zone, { epoch: 4 }))).toEqual({ type: 'older', epoch: 5 });
      expect((await sessions.session(zone))?.up).toBe(numberOf(first));
      const second = await sessions.open(request(zone, { epoch: 5 }));
      expect(second).toMatchObject({ type: 'opened', previous: { session: numberOf(first), incarnation: 'life-1' } });
      const reborn = await sessions.open(request(zone, { epoch: 1, incarnation: 'life-2' }));
      expect(reborn).toMatchObject({ type: 'opened', previous: { incarnation: 'life-1' } });
      expect(await sessions.session(zone)).toEqual({
        zone,
        storeId: `store-of-${zone}`,
        incarnation: 'life-2',
        epoch: 1,
        instance: 'zone-0',
        up: numberOf(reborn),
        down: numberOf(reborn),
        openedAt: expect.any(Number),
      });
      expect((await sessions.sessions()).filter((one) => one.zone === zone)).toHaveLength(1);
    });

    it('belongs to the store that opened the first one, until another is adopted', async () => {
      const { store, sessions } = world();
      const zone = freshId().name;
      expect(await sessions.session(zone)).toBeUndefined();
      expect(await sessions.adopt(zone, 'another')).toBe(false);
      const first = numberOf(await sessions.open(request(zone)));
      const stranger = request(zone, { storeId: 'another' });
      expect(await sessions.open(stranger)).toEqual({ type: 'other-store', boundTo: `store-of-${zone}` });
      expect((await sessions.session(zone))?.up).toBe(first);
      expect([await sessions.adopt(zone, 'another'), await sessions.adopt(zone, 'another')]).toEqual([true, false]);
      const late = { changes: [], onRefusal: 'abort', session: { zone, session: first } } as const;
      await expect(store.write(late)).rejects.toBeInstanceOf(Fenced);
      expect(await sessions.open(request(zone))).toEqual({ type: 'other-store', boundTo: 'another' });
      expect(numberOf(await sessions.open(stranger))).toBeGreaterThan(first);
      expect(await sessions.open(request(zone))).toEqual({ type: 'other-store', boundTo: 'another' });
    });

    it('goes to the next store where the zone is bound to none', async () => {
      const { store, sessions } = world();
      const zone = freshId().name;
      const first = numberOf(await sessions.open(request(zone)));
      expect([await sessions.adopt(zone, ''), await sessions.adopt(zone, '')]).toEqual([true, false]);
      await store.write({ changes: [], onRefusal: 'abort', session: { zone, session: first } });
      expect(numberOf(await sessions.open(request(zone, { storeId: 'another' })))).toBeGreaterThan(first);
      expect(await sessions.open(request(zone))).toEqual({ type: 'other-store', boundTo: 'another' });
    });

    it('has a number for each direction where the peer opens each by itself', async () => {
      const { store, sessions } = world();
      const zone = freshId().name;
      const kuma = { storeId: '', incarnation: '', epoch: 0 };
      const up = numberOf(await sessions.open(request(zone, { ...kuma, direction: 'up' })));
      const down = numberOf(await sessions.open(request(zone, { ...kuma, direction: 'down' })));
      expect(await sessions.session(zone)).toMatchObject({ up, down, storeId: '' });
      const write = (session: number): Promise<unknown> =>
        store.write({ changes: [], onRefusal: 'abort', session: { zone, session } });
      await Promise.all([write(up), write(down)]);
      const again = numberOf(await sessions.open(request(zone, { ...kuma, direction: 'up' })));
      expect(again).toBeGreaterThan(down);
      await write(down);
      await expect(write(up)).rejects.toBeInstanceOf(Fenced);
      const both = numberOf(await sessions.open(request(zone)));
      for (const old of [again, down]) await expect(write(old)).rejects.toBeInstanceOf(Fenced);
      await write(both);
    });

    it('is one of a kind when many open at once', async () => {
      const { sessions } = world();
      const zone = freshId().name;
      const opened = await Promise.all(Array.from({ length: 8 }, () => sessions.open(request(zone))));
      const numbers = opened.map(numberOf).sort((a, b) => a - b);
      expect(new Set(numbers).size).toBe(8);
      expect((await sessions.session(zone))?.up).toBe(numbers.at(-1));
    });
  });
}
