import type { Identity } from '@causeway/resources';
import type { PatchChange } from '../../src/resource-store';
import { freshId, freshVip, held, put, refusals, write, writeOne, type StoreFixture } from './store-fixture';

const take = (id: Identity, vip: string | null): PatchChange => ({ type: 'patch', id, expect: 'any', vip });

/** Guarantee 6 and I1: no address is given twice; freed addresses are recorded by the store's clock. */
export function describeAddresses(world: () => StoreFixture): void {
  describe('an address', () => {
    it('I1: has one living holder, who is named', async () => {
      const { store, other } = world();
      const [a, b, vip] = [freshId(), freshId(), freshVip()];
      await write(store, put(a), put(b));
      await write(store, take(a, vip));
      const { results } = await other.write({ changes: [take(b, vip)], onRefusal: 'skip' });
      expect(results).toEqual([
        {
          type: 'refused',
          refusal: 'vip-taken',
          detail: expect.stringMatching(new RegExp(`${vip} is held by .*${a.name}$`)),
        },
      ]);
      await expect(write(other, take(b, vip))).rejects.toThrow(vip);
    });

    it('I1: has one holder when many want it at once', async () => {
      const { store, other } = world();
      const vip = freshVip();
      const ids = Array.from({ length: 10 }, () => freshId());
      await write(store, ...ids.map((id) => put(id)));
      const tries = await Promise.all(ids.map((id, n) => refusals(n % 2 ? store : other, take(id, vip))));
      expect(tries.flat().filter((refusal) => refusal === undefined)).toHaveLength(1);
    });

    it('goes to the first of a write that wants it', async () => {
      const { store } = world();
      const [a, b, vip] = [freshId(), freshId(), freshVip()];
      await write(store, put(a), put(b));
      expect(await refusals(store, take(a, vip), take(b, vip))).toEqual([undefined, 'vip-taken']);
    });

    it('is not handed on by the write that gives it up, but by the next', async () => {
      const { store } = world();
      const [a, b, vip] = [freshId(), freshId(), freshVip()];
      await write(store, put(a), put(b), take(a, vip));
      expect(await refusals(store, { type: 'delete', id: a, expect: 'any' }, take(b, vip))).toEqual([
        undefined,
        'vip-taken',
      ]);
      expect(await refusals(store, take(b, vip))).toEqual([undefined]);
    });

    it('is noted as freed when it is changed, cleared or its holder deleted, and kept through re-creation', async () => {
      const { store } = world();
      const [id, first, second] = [freshId(), freshVip(), freshVip()];
      const start = Date.now() - 60_000;
      await write(store, put(id));
      await write(store, take(id, first));
      expect((await held(store, id)).freed).toEqual([]);
      await write(store, take(id, second));
      const [changed] = (await held(store, id)).freed;
      expect(changed).toEqual({ ip: first, at: expect.any(Number) });
      expect(changed?.at).toBeGreaterThan(start);
      await write(store, { type: 'delete', id, expect: 'any' });
      const stone = (await store.snapshot()).tombstones.find((one) => one.id.name === id.name);
      expect(stone?.freed).toEqual([changed, { ip: second, at: stone?.deletedAt }]);
      const again = await writeOne(store, put(id));
      expect(again.freed).toEqual(stone?.freed);
      await write(store, take(id, first));
      expect((await held(store, id)).freed.map(({ ip }) => ip)).toEqual([second]);
      await write(store, take(id, null));
      expect((await held(store, id)).freed.map(({ ip }) => ip)).toEqual([second, first]);
    });

    it('is unchanged when its holder takes it again', async () => {
      const { store } = world();
      const [id, vip] = [freshId(), freshVip()];
      await write(store, put(id));
      await write(store, take(id, vip));
      const [again] = await write(store, take(id, vip));
      expect(again?.type).toBe('unchanged');
    });

    it('survives puts of its holder', async () => {
      const { store } = world();
      const [a, b, vip] = [freshId(), freshId(), freshVip()];
      await write(store, put(a), put(b));
      await write(store, take(a, vip));
      await write(store, put(a, { n: 2 }));
      expect(await refusals(store, take(b, vip))).toEqual(['vip-taken']);
    });

    it('comes with the resource, and with its status, where the write creates it', async () => {
      const { store } = world();
      const [a, b, vip, other] = [freshId(), freshId(), freshVip(), freshVip()];
      await write(store, put(a, {}, { initial: { status: { first: true }, vip } }));
      expect(await held(store, a)).toMatchObject({ status: { first: true }, freed: [] });
      await write(store, put(b));
      expect(await refusals(store, take(b, vip))).toEqual(['vip-taken']);
      await write(store, put(a, { n: 2 }, { initial: { status: { first: false }, vip: other } }));
      expect(await held(store, a)).toMatchObject({ spec: { n: 2 }, status: { first: true }, freed: [] });
      expect(await refusals(store, take(b, other))).toEqual([undefined]);
    });

    it('I1: is left out of a creation while another resource holds it; a resource that is created again takes its own back', async () => {
      const { store } = world();
      const [a, b, vip] = [freshId(), freshId(), freshVip()];
      await write(store, put(a, {}, { initial: { vip } }));
      const late = put(b, {}, { status: { kept: true }, initial: { status: { vip }, vip } });
      expect((await writeOne(store, late)).status).toEqual({ kept: true });
      expect(await refusals(store, take(b, vip))).toEqual(['vip-taken']);
      await write(store, { type: 'delete', id: a, expect: 'any' });
      const again = await writeOne(store, put(a, {}, { initial: { vip } }));
      expect(again.freed).toEqual([]);
      expect(await refusals(store, take(b, vip))).toEqual(['vip-taken']);
    });

    it('may be of IPv6', async () => {
      const { store } = world();
      const [a, b] = [freshId(), freshId()];
      const n = Number(a.name.replace(/\D/g, ''));
      const vip = `fd00::1:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}`;
      await write(store, put(a), put(b), take(a, vip));
      expect(await refusals(store, take(b, vip))).toEqual(['vip-taken']);
      await write(store, take(a, null));
      expect((await held(store, a)).freed).toMatchObject([{ ip: vip }]);
    });
  });
}
