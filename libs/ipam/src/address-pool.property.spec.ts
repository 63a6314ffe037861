import fc from 'fast-check';
import { AddressPool } from './address-pool';
import { planRanges } from './plan-ranges';

const COOLDOWN = 10;
const plan = planRanges([
  { owner: 'small', range: '10.0.0.0/28' },
  { owner: 'hole', range: '10.0.0.8/30' },
]);
const ranges = plan.ok ? (plan.owned[0]?.ranges ?? []) : [];

type PoolStep =
  | { readonly type: 'allocate'; readonly owner: string }
  | { readonly type: 'delete'; readonly owner: string }
  | { readonly type: 'wait'; readonly ms: number }
  /** Proxies apply the log; proxies that lag delay the reuse of addresses. */
  | { readonly type: 'ack' }
  | { readonly type: 'restart' };

const owner = fc.integer({ min: 0, max: 20 }).map((n) => `o${n}`);
const steps: fc.Arbitrary<PoolStep[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: owner.map((o): PoolStep => ({ type: 'allocate', owner: o })) },
    { weight: 4, arbitrary: owner.map((o): PoolStep => ({ type: 'delete', owner: o })) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 15 }).map((ms): PoolStep => ({ type: 'wait', ms })) },
    { weight: 2, arbitrary: fc.constant<PoolStep>({ type: 'ack' }) },
    { weight: 1, arbitrary: fc.constant<PoolStep>({ type: 'restart' }) },
  ),
  { maxLength: 120, size: 'max' },
);

/** Holds what a store would: which owner has which address, and which address was freed when. */
class TestStore {
  now = 0;
  pool = new AddressPool(ranges, COOLDOWN);
  readonly held = new Map<string, string>();
  readonly freed: { readonly owner: string; readonly ip: string; readonly at: number; readonly revision: number }[] =
    [];
  revision = 1;
  floor = 1;

  lastFreed(ip: string): TestStore['freed'][number] | undefined {
    return this.freed.filter((f) => f.ip === ip).at(-1);
  }

  take(step: PoolStep): void {
    if (step.type === 'wait') this.now += step.ms;
    else if (step.type === 'ack') this.floor = this.revision;
    else if (step.type === 'restart') this.restart();
    else if (step.type === 'delete') this.delete(step.owner);
    else this.allocate(step.owner);
  }

  private restart(): void {
    const cursor = this.pool.cursor;
    this.pool = new AddressPool(ranges, COOLDOWN);
    for (const [o, ip] of this.held) expect(this.pool.reserve(o, ip)).toBe('held');
    for (const f of [...this.freed].reverse()) this.pool.markFreed(f.owner, f.ip, f);
    if (cursor !== undefined) this.pool.moveCursor(cursor);
  }

  private delete(o: string): void {
    const ip = this.held.get(o);
    if (ip === undefined) return;
    this.held.delete(o);
    const freeing = { at: this.now, revision: ++this.revision };
    this.freed.push({ owner: o, ip, ...freeing });
    this.pool.release(o);
    this.pool.markFreed(o, ip, freeing);
  }

  private allocate(o: string): void {
    const before = this.held.get(o);
    const idle = this.freed.filter((f) => this.lastFreed(f.ip)?.owner === o && ![...this.held.values()].includes(f.ip));
    const result = this.pool.allocate(o, { now: this.now, floor: this.floor });
    if (!result.ok && result.heldAt !== undefined) return this.mustBeHeld();
    if (!result.ok) return this.mustBeExhausted(result.retryAt);
    if (before !== undefined) expect(result.ip).toBe(before);
    else this.mustBeLegal(o, result.ip, idle.at(-1)?.ip);
    this.held.set(o, result.ip);
  }

  private mustBeLegal(o: string, ip: string, former: string | undefined): void {
    expect([...this.held.values()]).not.toContain(ip); // I1: one holder
    expect(ip).not.toMatch(/^10\.0\.0\.(8|9|10|11)$/); // the hole is another's
    if (former !== undefined) expect(ip).toBe(former); // I2
    const last = this.lastFreed(ip);
    if (last && last.owner !== o) {
      expect(this.now - last.at).toBeGreaterThanOrEqual(COOLDOWN); // I1: rested
      expect(last.revision).toBeLessThanOrEqual(this.floor); // I11: every proxy applies that it was freed
      expect(this.held.size + this.cooling().length).toBe(12); // only when nothing else is free
      expect(Math.min(...this.cooling().map((r) => r.at))).toBe(last.at); // the longest freed first
    }
  }

  /** The cooldown of the longest freed is over, and some proxy may not apply that it was freed. */
  private mustBeHeld(): void {
    const first = Math.min(...this.cooling().map(({ at }) => at));
    expect(first + COOLDOWN).toBeLessThanOrEqual(this.now);
    expect(this.cooling().filter(({ at, revision }) => at === first && revision > this.floor).length).toBeGreaterThan(
      0,
    );
  }

  private mustBeExhausted(retryAt: number | undefined): void {
    const cooling = this.cooling();
    expect(this.held.size + cooling.length).toBe(12);
    expect(retryAt).toBe(cooling.length === 0 ? undefined : Math.min(...cooling.map((r) => r.at)) + COOLDOWN);
    if (retryAt !== undefined) expect(retryAt).toBeGreaterThan(this.now);
  }

  private cooling(): readonly { readonly at: number; readonly revision: number }[] {
    const ips = new Set(this.freed.map((f) => f.ip));
    return [...ips]
      .filter((ip) => ![...this.held.values()].includes(ip))
      .map((ip) => this.lastFreed(ip) ?? { at: 0, revision: 0 });
  }
}

describe('AddressPool under any history', () => {
  it('I1 I2 I11: never two holders, what proxies may still use kept, cooldowns kept, identities get their address back, also across restarts', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const world = new TestStore();
        for (const step of history) {
          world.take(step);
          expect(world.pool.metricsAt(0).used).toBe(world.held.size);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('is deterministic: the same history gives the same addresses', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const [a, b] = [new TestStore(), new TestStore()];
        for (const step of history) [a, b].forEach((world) => world.take(step));
        expect([...a.held]).toEqual([...b.held]);
      }),
      { numRuns: 20 },
    );
  });
});
