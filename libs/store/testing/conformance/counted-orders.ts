import { globalIdentity, type Identity } from '@causeway/resources';
import type { ChangeResult, MetadataEntry, PutChange } from '../../src/resource-store';
import { copyFacts, freshId, held, put, write, writeOne, type StoreFixture } from './store-fixture';

const HOUR = 3_600_000_000;

/** A zone with a session. */
interface JoinedZone {
  readonly zone: string;
  readonly session: number;
}

/** The creation order that counts for writes of a zone's session (docs/adr/0012-the-order-that-counts.md). */
export function describeCountedOrders(world: () => StoreFixture): void {
  const join = async (zone = freshId().name): Promise<JoinedZone> => {
    const opening = await world().sessions.open({
      zone,
      storeId: `store-of-${zone}`,
      incarnation: 'incarnation-1',
      epoch: 1,
      instance: 'zone-0',
    });
    if (opening.type !== 'opened') throw new Error(`not opened: ${opening.type}`);
    return { zone, session: opening.session };
  };
  const idIn = ({ zone }: JoinedZone, kind?: string): Identity => ({ ...freshId(kind), zone });
  const claims = (id: Identity, creationOrder: number, orderFrom: PutChange['orderFrom'], revision = 7): PutChange => {
    const origin = { incarnation: 'incarnation-1', revision, committedAt: 1_700_000_000_000 };
    return put(id, {}, { copy: copyFacts({ creationOrder, origin }), ...(orderFrom ? { orderFrom } : {}) });
  };
  const send = async (
    session: JoinedZone,
    changes: readonly PutChange[],
    entries: readonly MetadataEntry[] = [],
  ): Promise<readonly ChangeResult[]> =>
    (await world().store.write({ changes, onRefusal: 'abort', session, metadata: entries })).results;
  const readOrder = async (id: Identity): Promise<number> => (await held(world().store, id)).creationOrder;

  describe('the creation order of what a zone sends', () => {
    it('on an open stream: a forged age is younger than everything that is held', async () => {
      const [evil, honest] = [await join(), await join()];
      const [made, theirs, forged, second] = [freshId(), idIn(honest), idIn(evil), idIn(evil)];
      const own = await writeOne(world().store, put(made));
      await send(honest, [claims(theirs, own.creationOrder + HOUR, 'now')]);
      expect(await readOrder(theirs)).toBe(own.creationOrder + HOUR);
      const results = await send(evil, [claims(forged, 1, 'now'), claims(second, own.creationOrder, 'now')]);
      const [first, next] = [await readOrder(forged), await readOrder(second)];
      expect(first).toBeGreaterThan(own.creationOrder + HOUR);
      expect(next).toBeGreaterThan(first);
      expect(results).toMatchObject([{ creationOrder: first }, { creationOrder: next }]);
      expect((await held(world().store, forged)).createdAt).toBe(Math.floor(first / 1_000));
    });

    it('on an open stream: what was on its way keeps its age, beside others of its zone too', async () => {
      const east = await join();
      const [late, early] = [idIn(east), idIn(east)];
      const now = (await writeOne(world().store, put(freshId()))).creationOrder;
      const results = await send(east, [claims(late, now + 20, 'now'), claims(early, now + 10, 'now')]);
      expect([await readOrder(late), await readOrder(early)]).toEqual([now + 20, now + 10]);
      expect(results.map((result) => 'creationOrder' in result)).toEqual([false, false]);
    });

    it('after a cut: a claim counts from the moment that was marked last', async () => {
      const { sessions, store } = world();
      const east = await join();
      await sessions.markWhole([{ ...east, incomplete: [] }]);
      await write(store, put(freshId()));
      const later = (await writeOne(store, put(freshId()))).creationOrder;
      const again = await join(east.zone);
      const [honest, forged] = [idIn(again), idIn(again)];
      await send(again, [claims(honest, later + 5, 'moment'), claims(forged, 1, 'moment')]);
      expect(await readOrder(honest)).toBe(later + 5);
      expect(await readOrder(forged)).toBeLessThan(later);
      expect(await readOrder(forged)).toBeGreaterThan(later - HOUR);
    });

    it('after a cut: a kind that was not whole counts from the moment before', async () => {
      const { sessions } = world();
      const east = await join();
      const zone = globalIdentity('Zone', east.zone);
      const made = await writeOne(world().store, put(zone));
      await sessions.markWhole([{ ...east, incomplete: ['Odd'] }]);
      await write(world().store, put(freshId()), put(freshId()));
      await sessions.markWhole([{ ...east, incomplete: ['Odd', 'Thing'] }]);
      const [odd, thing, other] = [idIn(east, 'Odd'), idIn(east), idIn(east, 'Other')];
      await send(
        east,
        [odd, thing, other].map((id) => claims(id, 1, 'moment')),
      );
      const orders = [await readOrder(odd), await readOrder(thing), await readOrder(other)];
      expect(orders[0]).toBe(made.creationOrder);
      expect(orders).toEqual([...new Set(orders)].sort((a, b) => a - b));
    });

    it('of a new zone: when its Zone was made', async () => {
      const east = await join();
      const [before, after, unknown] = [idIn(east), idIn(east), idIn(east)];
      const { creationOrder: made } = await writeOne(world().store, put(globalIdentity('Zone', east.zone)));
      const sent = [claims(before, 1, 'moment'), claims(after, made + HOUR, 'moment'), claims(unknown, 0, 'moment')];
      await send(east, sent);
      expect([await readOrder(before), await readOrder(after), await readOrder(unknown)]).toEqual([
        made,
        made + HOUR,
        0,
      ]);
    });

    it('is marked only by the session that stands, and goes with the zone', async () => {
      const { sessions } = world();
      const first = await join();
      const second = await join(first.zone);
      await sessions.markWhole([{ ...first, incomplete: [] }]);
      const [early, late, reborn] = [idIn(second), idIn(second), idIn(second)];
      await send(second, [claims(early, 1, 'moment')]);
      expect(await readOrder(early)).toBe(1);
      await sessions.markWhole([{ ...second, incomplete: [] }]);
      await send(second, [claims(late, 1, 'moment')]);
      expect(await readOrder(late)).toBeGreaterThan(1);
      await sessions.forget(second.zone, second.session);
      await send(await join(first.zone), [claims(reborn, 1, 'moment')]);
      expect(await readOrder(reborn)).toBe(1);
    });

    it('is kept by identity while a copy or its tombstone is held: never older, younger where the zone says so', async () => {
      const { store, sessions } = world();
      const east = await join();
      const [id, unknown] = [idIn(east), idIn(east)];
      await send(east, [claims(id, 50, 'moment'), claims(unknown, 0, 'moment')]);
      await sessions.markWhole([{ ...east, incomplete: [] }]);
      const [lowered] = await send(east, [claims(id, 1, 'now', 8)]);
      expect([await readOrder(id), lowered]).toMatchObject([50, { creationOrder: 50 }]);
      const [same] = await send(east, [claims(id, 1, 'now', 8)]);
      expect(same).toMatchObject({ type: 'unchanged', creationOrder: 50 });
      await write(store, { type: 'delete', id, expect: 'any' });
      await send(east, [claims(id, 2, 'moment', 9), claims(unknown, 7, 'now', 9)]);
      expect([await readOrder(id), await readOrder(unknown)]).toEqual([50, 0]);
      await send(east, [claims(id, 60, 'now', 10)]);
      expect(await readOrder(id)).toBe(60);
    });

    it('is what the copy says where nobody asks for more', async () => {
      const east = await join();
      const id = idIn(east);
      await send(east, [claims(id, 50, undefined)]);
      await write(world().store, claims(id, 1, 'now', 8));
      expect(await readOrder(id)).toBe(1);
    });

    it('does not write a note that must not stand where an order was raised', async () => {
      const { store } = world();
      const east = await join();
      const area = freshId().name;
      const createEntries = (n: number): readonly MetadataEntry[] => [
        { area, key: 'point', value: { n }, unlessRaised: true },
        { area, key: 'other', value: { n } },
      ];
      const kept = async (): Promise<unknown> =>
        Object.fromEntries((await store.listMetadata(area)).map(({ key, value }) => [key, value?.['n']]));
      const { creationOrder } = await writeOne(store, put(freshId()));
      await send(east, [claims(idIn(east), creationOrder + HOUR, 'now')], createEntries(1));
      expect(await kept()).toEqual({ point: 1, other: 1 });
      await send(east, [claims(idIn(east), 1, 'now')], createEntries(2));
      expect(await kept()).toEqual({ point: 1, other: 2 });
      await send(east, [claims(idIn(east), 1, 'now')], createEntries(3).slice(0, 1));
      expect(await kept()).toEqual({ point: 1, other: 2 });
    });

    it('is taken over where it was made, and never falls', async () => {
      const { store } = world();
      const id = freshId();
      const made = await writeOne(store, put(id));
      const raise = async (creationOrder: number): Promise<string | undefined> =>
        (await write(store, { type: 'patch', id, expect: 'any', creationOrder }))[0]?.type;
      expect([await raise(1), await raise(made.creationOrder)]).toEqual(['unchanged', 'unchanged']);
      expect([await raise(made.creationOrder + 9), await readOrder(id)]).toEqual(['written', made.creationOrder + 9]);
      const after = await held(store, id);
      expect(after).toMatchObject({ createdAt: made.createdAt, generation: made.generation, origin: made.origin });
      expect((await writeOne(store, put(freshId()))).creationOrder).toBeGreaterThan(made.creationOrder + 9);
      expect([await raise(0), await readOrder(id), await raise(5), await readOrder(id)]).toEqual([
        'written',
        0,
        'unchanged',
        0,
      ]);
    });
  });
}
