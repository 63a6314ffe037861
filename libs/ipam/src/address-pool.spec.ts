import { AddressPool } from './address-pool';
import { planRanges } from './plan-ranges';
import type { AddressRange } from './range';

const REST = 60_000;

function rangesOf(range: string): readonly AddressRange[] {
  const plan = planRanges([{ owner: 'A', range }]);
  if (!plan.ok) throw new Error(plan.errors.join());
  return plan.owned.flatMap((o) => o.ranges);
}

const poolOf = (range: string): AddressPool => new AddressPool(rangesOf(range), REST);

function ipOf(pool: AddressPool, owner: string, now = 0): string | undefined {
  const got = pool.allocate(owner, { now: now });
  return got.ok ? got.ip : undefined;
}

describe('AddressPool', () => {
  it('hands out in sequence from the first address on, each owner one', () => {
    const pool = poolOf('241.0.0.0/8');
    expect(['a', 'b', 'a', 'c'].map((owner) => ipOf(pool, owner))).toEqual([
      '241.0.0.0',
      '241.0.0.1',
      '241.0.0.0',
      '241.0.0.2',
    ]);
    expect(pool.metricsAt(0)).toEqual({ size: 1n << 24n, used: 3, cooling: 0 });
    expect(pool.cursor).toBe('241.0.0.2');
  });

  it('T001-06 goes on after the highest address when the cursor is not known', () => {
    const pool = poolOf('241.0.0.0/8');
    pool.reserve('a', '241.0.0.1');
    pool.reserve('b', '241.0.0.3');
    pool.moveCursorToHighest();
    expect(ipOf(pool, 'c')).toBe('241.0.0.4');
  });

  it('goes on after the cursor and wraps round, past what is held', () => {
    const pool = poolOf('10.0.0.0/30');
    pool.reserve('a', '10.0.0.3');
    pool.reserve('b', '10.0.0.0');
    pool.moveCursor('10.0.0.2');
    expect(ipOf(pool, 'c')).toBe('10.0.0.1');
    expect(ipOf(pool, 'd')).toBe('10.0.0.2');
    expect(pool.allocate('e', { now: 0 })).toEqual({ ok: false });
  });

  it('I2 gives an identity the address back that it freed last, without a cooldown and without moving the cursor', () => {
    const pool = poolOf('10.0.0.0/24');
    pool.markFreed('a', '10.0.0.5', { at: 1 });
    pool.markFreed('a', '10.0.0.9', { at: 2 });
    expect(ipOf(pool, 'a', 2)).toBe('10.0.0.9');
    expect(pool.cursor).toBeUndefined();
    expect(ipOf(pool, 'b', 2)).toBe('10.0.0.0');
  });

  it('I1 gives freed addresses to others only when nothing else is free, the longest freed first, after its cooldown', () => {
    const pool = poolOf('10.0.0.0/30');
    pool.markFreed('gone', '10.0.0.2', { at: 1_000 });
    pool.markFreed('left', '10.0.0.1', { at: 5_000 });
    expect([ipOf(pool, 'a', 5_000), ipOf(pool, 'b', 5_000)]).toEqual(['10.0.0.0', '10.0.0.3']);
    expect(pool.allocate('c', { now: 5_000 })).toEqual({ ok: false, retryAt: 61_000 });
    expect(pool.allocate('c', { now: 60_999 })).toEqual({ ok: false, retryAt: 61_000 });
    expect(ipOf(pool, 'c', 61_000)).toBe('10.0.0.2');
    expect(pool.allocate('d', { now: 61_000 })).toEqual({ ok: false, retryAt: 65_000 });
    expect(pool.allocate('gone', { now: 61_000 })).toEqual({ ok: false, retryAt: 65_000 });
    expect([64_999, 65_000].map((now) => pool.metricsAt(now))).toEqual([
      { size: 4n, used: 3, cooling: 1 },
      { size: 4n, used: 3, cooling: 0 },
    ]);
  });

  it('counts the last freeing of an address, in whatever order it learns of them', () => {
    for (const frees of [
      [
        ['a', 1],
        ['b', 2],
      ],
      [
        ['b', 2],
        ['a', 1],
      ],
    ] as const) {
      const pool = poolOf('10.0.0.0/32');
      for (const [owner, at] of frees) pool.markFreed(owner, '10.0.0.0', { at: at });
      expect(pool.allocate('a', { now: 3 })).toEqual({ ok: false, retryAt: 2 + REST });
      expect(ipOf(pool, 'b', 3)).toBe('10.0.0.0');
    }
  });

  it('keeps an address that was freed twice in one ms until everybody applies the second time (I11)', () => {
    for (const revisions of [
      [2, 3],
      [3, 2],
    ]) {
      const pool = poolOf('10.0.0.0/32');
      for (const revision of revisions) pool.markFreed('a', '10.0.0.0', { at: 0, revision });
      expect(pool.allocate('b', { now: REST, floor: 2 })).toEqual({ ok: false, heldAt: 3 });
      expect(pool.allocate('b', { now: REST, floor: 3 })).toMatchObject({ ok: true });
    }
  });

  it('tells a second holder and a stranger apart, and lets the former address go', () => {
    const pool = poolOf('10.0.0.0/30');
    expect(pool.reserve('a', '10.0.0.1')).toBe('held');
    expect(pool.reserve('b', '10.0.0.1')).toBe('taken');
    expect(pool.reserve('a', '11.0.0.1')).toBe('outside');
    expect(pool.reserve('b', '10.0.0.1')).toBe('held');
    expect(pool.metricsAt(0).used).toBe(1);
  });

  it('never hands out a blocked address', () => {
    const pool = poolOf('10.0.0.0/31');
    pool.block('10.0.0.0');
    pool.markFreed('a', '10.0.0.0', { at: 0 });
    expect(ipOf(pool, 'a', 1e9)).toBe('10.0.0.1');
    expect(pool.allocate('b', { now: 1e9 })).toEqual({ ok: false });
  });

  it('does not pile up memory when one identity comes and goes', () => {
    const pool = poolOf('10.0.0.0/24');
    for (let at = 1; at <= 10_000; at++) {
      expect(ipOf(pool, 'a', at)).toBe('10.0.0.0');
      pool.release('a');
      pool.markFreed('a', '10.0.0.0', { at: at });
    }
    expect(pool.metricsAt(0)).toMatchObject({ used: 0, cooling: 1 });
    expect(pool['coolingQueue'].length).toBeLessThan(200);
  });

  it.each([
    ['fd00::/64', 'fd00::', 'fd00::1'],
    ['fd00:0:0:1::/64', 'fd00:0:0:1::', 'fd00:0:0:1::1'],
  ])('counts in %s without listing it', (range, first, second) => {
    const pool = poolOf(range);
    expect([ipOf(pool, 'a'), ipOf(pool, 'b')]).toEqual([first, second]);
    expect(pool.metricsAt(0).size).toBe(1n << 64n);
  });

  it('fills a /16 to the last address and finds the one hole in it', () => {
    const pool = poolOf('10.9.0.0/16');
    const seen = new Set(Array.from({ length: 65_536 }, (_, i) => ipOf(pool, `o${i}`)));
    expect(seen.size).toBe(65_536);
    expect(pool.allocate('more', { now: 0 })).toEqual({ ok: false });
    pool.release('o40000');
    expect(ipOf(pool, 'more')).toBe('10.9.156.64');
  });
});
