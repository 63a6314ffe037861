import fc from 'fast-check';
import { parseAddress } from '@causeway/ipam';
import {
  globalIdentity,
  jsonEqual,
  isResourceKey,
  parseIdentityKey,
  type Identity,
  type ResourceKey,
} from '@causeway/resources';
import type { Change } from '@causeway/store';
import { put, remove } from '../../../../test/support/loop-harness';
import { COOLDOWN, service, VipZone } from '../../../../test/support/vip-zone';
import { poolReports } from '../zone-reconcilers';
import type { VipReconciler } from './vip-reconciler';

/** Small ranges, so that they run out, and so that those of two meshes and of the zone meet. */
const ZONE = { MeshService: '10.0.0.0/29' };
const RANGES = ['10.0.0.0/30', '10.0.0.4/31', '10.0.0.0/29', '10.9.0.0/30', '10.9.0.2/31', '10.8.0.0/31', 'banana'];
const MESHES = ['default', 'shop', 'bank'];

type MeshStep =
  | { readonly type: 'make' | 'remove'; readonly mesh: string; readonly n: number }
  | { readonly type: 'range'; readonly mesh: string; readonly range: string | undefined; readonly cooldown?: string }
  | { readonly type: 'mesh'; readonly mesh: string; readonly whose: 'ours' | 'foreign' | 'nobody' }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'steps'; readonly count: number }
  | { readonly type: 'lead' };

const mesh = fc.constantFrom(...MESHES);
const step: fc.Arbitrary<MeshStep> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('make' as const), mesh, n: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('remove' as const), mesh, n: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 5,
    arbitrary: fc
      .record({
        mesh,
        range: fc.option(fc.constantFrom(...RANGES), { nil: undefined }),
        cooldown: fc.option(fc.constantFrom('30s', '3m'), { nil: undefined }),
      })
      .map(({ cooldown, ...rest }) => ({ type: 'range' as const, ...rest, ...(cooldown ? { cooldown } : {}) })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('mesh' as const),
      mesh,
      whose: fc.constantFrom('ours' as const, 'foreign' as const, 'nobody' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(1, 29_999, COOLDOWN, 180_000) }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('steps' as const), count: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 1, arbitrary: fc.constant<MeshStep>({ type: 'lead' }) },
);

/** A zone with three meshes, watched for what must never happen. */
class CheckedMeshes {
  readonly zone = new VipZone();
  /** Of each address: who had it last, and when it was given up. */
  private readonly history = new Map<string, { readonly key: string; readonly freedAt?: number }>();
  /** The shortest cooldown that any setting allows: what a mesh sets may change while an address cools down. */
  private readonly least = 30_000;

  async take(next: MeshStep): Promise<void> {
    switch (next.type) {
      case 'make':
        return this.write(put(this.id(next), { ports: [{ port: 80 }] }));
      case 'remove':
        if (await this.zone.harness.get(this.id(next))) await this.write(remove(this.id(next)));
        return;
      case 'range': {
        const vipRanges = next.range === undefined ? {} : { vipRanges: { MeshService: next.range } };
        const cooldown = next.cooldown === undefined ? {} : { vipCooldown: next.cooldown };
        return this.write(put(globalIdentity('MeshParameters', next.mesh), { ...vipRanges, ...cooldown }));
      }
      case 'mesh':
        return this.setMesh(next);
      case 'wait':
        this.zone.harness.clock.advance(next.ms);
        return;
      case 'steps':
        for (let i = 0; i < next.count; i++) {
          const more = await this.zone.runner.step();
          this.check();
          if (!more) return;
        }
        return;
      case 'lead':
        await this.zone.start(ZONE);
        return this.check();
    }
  }

  async settle(): Promise<void> {
    for (let i = 0; await this.zone.runner.step(); i++) {
      this.check();
      expect(i).toBeLessThan(500);
    }
    this.check();
  }

  /** The address of each service, by key. */
  vips(): ReadonlyMap<ResourceKey, string> {
    return new Map(
      [...this.zone.harness.disk.rows].flatMap(([key, { vip }]) =>
        vip === undefined || !isResourceKey(key) ? [] : [[key, vip]],
      ),
    );
  }

  private async setMesh({ mesh: name, whose }: Extract<MeshStep, { type: 'mesh' }>): Promise<void> {
    const id = globalIdentity('Mesh', name);
    if (await this.zone.harness.get(id)) await this.write(remove(id));
    if (whose === 'nobody') return;
    const controllerName = whose === 'ours' ? 'causeway.io/control-plane' : 'x.io/y';
    await this.write(
      put(id, { controllerName, parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name } }),
    );
  }

  private async write(...changes: readonly Change[]): Promise<void> {
    await this.zone.harness.write(...changes);
    this.check();
  }

  private id({ mesh: of, n }: { readonly mesh: string; readonly n: number }): Identity {
    return service(`s${n}`, { mesh: of });
  }

  /** Checks I1 after every commit: no two services share an address, and no address is given again before its cooldown. */
  private check(): void {
    const held = new Map<string, string>();
    for (const [key, row] of this.zone.harness.disk.rows) {
      if (row.vip === undefined) continue;
      if (held.has(row.vip)) throw new Error(`${row.vip} is held by ${held.get(row.vip)} and ${key}`);
      if (!jsonEqual(row.status?.['vip'], { ip: row.vip, type: 'Kuma' })) throw new Error(`${key} hides ${row.vip}`);
      held.set(row.vip, key);
      this.mustHaveRested(key, row.modifiedAt, row.vip);
    }
    for (const [ip, last] of this.history) {
      if (!held.has(ip) && last.freedAt === undefined) {
        this.history.set(ip, { ...last, freedAt: this.zone.harness.clock.now() });
      }
    }
    for (const [ip, key] of held) this.history.set(ip, { key });
  }

  private mustHaveRested(key: string, at: number, ip: string): void {
    const last = this.history.get(ip);
    if (!last || last.key === key) return;
    if (last.freedAt === undefined) throw new Error(`${ip} went from ${last.key} to ${key} in one write`);
    if (at - last.freedAt < this.least) throw new Error(`${ip} of ${last.key} has not rested before ${key} got it`);
  }
}

describe('meshes whose ranges, rejections and owners change at random', () => {
  it('T000-39 I1 I2 no address twice or early; pools are disjoint; settled, nothing moves, also not by a reset', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (history) => {
        const checked = new CheckedMeshes();
        const { zone } = checked;
        try {
          await zone.start(ZONE);
          for (const name of MESHES) await checked.take({ type: 'mesh', mesh: name, whose: 'ours' });
          for (const next of history) await checked.take(next);
          await checked.settle();
          for (let i = 0; i < 3; i++) {
            zone.harness.clock.advance(180_000);
            await checked.settle();
          }
          expectDisjoint(zone);
          const { revision } = zone.harness;
          const before = [...checked.vips()].filter(([key, ip]) => isOfItsPool(zone, key, ip));
          await zone.start(ZONE);
          await checked.settle();
          expect(zone.harness.revision).toBe(revision);
          // A rejection moves no service; a service that waits to leave another mesh's range may find a freed address.
          for (const name of MESHES) await checked.take({ type: 'range', mesh: name, range: 'banana' });
          await checked.settle();
          for (const [key, ip] of before) expect([key, checked.vips().get(key)]).toEqual([key, ip]);
        } finally {
          await zone.harness.stop();
        }
      }),
      { numRuns: 30 },
    );
  });
});

/** Whether the address of a service is in the current pool of its mesh: a service with another address moves as soon as there is room. */
function isOfItsPool({ loop }: VipZone, key: ResourceKey, ip: string): boolean {
  const { pools } = (loop as VipReconciler)['settings'];
  const { mesh: name } = parseIdentityKey(key);
  const own = pools.find(({ mesh }) => mesh === name) ?? pools.find(({ mesh }) => mesh === undefined);
  const at = parseAddress(ip)?.value ?? -1n;
  return own?.ranges.some(({ first, last }) => first <= at && at <= last) === true;
}

/** No address is of two pools. */
function expectDisjoint({ loop }: VipZone): void {
  const pools = (loop as VipReconciler)['settings'].pools.flatMap(({ ranges }) => ranges);
  for (const [i, a] of pools.entries()) {
    for (const b of pools.slice(i + 1)) {
      expect(a.family === b.family && a.first <= b.last && b.first <= a.last).toBe(false);
    }
  }
  expect(poolReports([loop], 0).every(({ size, used, cooling }) => BigInt(used + cooling) <= size)).toBe(true);
}
