import fc from 'fast-check';
import { jsonEqual, type Resource } from '@causeway/resources';
import type { Change } from '@causeway/store';
import {
  dataplane,
  EAST,
  idOf,
  LoopHarness,
  put,
  remove,
  tagged,
  type Replica,
} from '../../../test/support/loop-harness';
import type { LoopRunner } from '@causeway/loops';
import { poolMetrics } from '../testing/pool-metrics';
import { createZoneReconcilers } from './zone-reconcilers';

const COOLDOWN = 60_000;
const GRACE = 5_000;
/** Small ranges, so that they run out. */
const ranges = { MeshService: '10.0.0.0/30', MeshExternalService: '10.0.1.0/30' };

type ZoneStep =
  | {
      readonly type: 'dataplane';
      readonly n: number;
      readonly service: number;
      readonly port: number;
      readonly ready: boolean;
    }
  | { readonly type: 'remove'; readonly kind: 'Dataplane' | 'MeshService'; readonly n: number }
  | { readonly type: 'hand' | 'copy'; readonly n: number; readonly team: string }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'steps'; readonly count: number }
  | { readonly type: 'lead' }
  | { readonly type: 'away' };

const n = fc.integer({ min: 0, max: 9 });
const steps: fc.Arbitrary<ZoneStep[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constant('dataplane' as const),
        n,
        service: fc.integer({ min: 0, max: 5 }),
        port: fc.integer({ min: 80, max: 82 }),
        ready: fc.boolean(),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant('remove' as const),
        kind: fc.constantFrom('Dataplane' as const, 'MeshService' as const),
        n,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constantFrom('hand' as const, 'copy' as const),
        n,
        team: fc.constantFrom('a', 'b'),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(1, 4_999, 30_000, 61_000) }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ type: fc.constant('steps' as const), count: fc.integer({ min: 1, max: 12 }) }),
    },
    { weight: 1, arbitrary: fc.constant<ZoneStep>({ type: 'lead' }) },
    { weight: 1, arbitrary: fc.constant<ZoneStep>({ type: 'away' }) },
  ),
  { maxLength: 80, size: 'max' },
);

/** A zone whose leader changes, watched for what must never happen. */
class CheckedZone {
  readonly harness = new LoopHarness();
  private replica: Replica | undefined;
  private runner: LoopRunner | undefined;
  private loops = createZoneReconcilers({ cp: EAST, ranges, cooldown: COOLDOWN, grace: GRACE });
  /** Of each address: who had it last, and when it was given up. */
  private readonly history = new Map<string, { readonly key: string; readonly freedAt?: number }>();

  async lead(): Promise<void> {
    this.loops = createZoneReconcilers({ cp: EAST, ranges, cooldown: COOLDOWN, grace: GRACE });
    this.replica = this.harness.replica();
    this.runner = await this.replica.lead(this.loops);
  }

  async take(step: ZoneStep): Promise<void> {
    switch (step.type) {
      case 'dataplane':
        return this.write(
          dataplane(`dp-${step.n}`, [
            tagged(`s-${step.service}`, step.port, { state: step.ready ? 'Ready' : 'NotReady' }),
          ]),
        );
      case 'remove':
        return this.remove(step);
      case 'hand':
        return this.write(
          put(idOf('MeshService', `hand-${step.n % 3}`), { ports: [{ port: 80 }] }, { team: step.team }),
        );
      case 'copy':
        return this.write(
          put(idOf('MeshService', `s-${step.n % 3}`, { zone: 'west' }), { ports: [{ port: 80 }] }, { team: step.team }),
        );
      case 'wait':
        this.harness.clock.advance(step.ms);
        return;
      case 'steps':
        for (let i = 0; i < step.count && (await this.step()); i++);
        return;
      case 'lead':
        return this.lead();
      case 'away':
        return this.loseOneWrite();
    }
  }

  async settle(): Promise<void> {
    for (let i = 0; await this.step(); i++) expect(i).toBeLessThan(500);
  }

  get rows(): readonly Resource[] {
    return [...(this.replica?.index.ofKind('MeshService') ?? [])];
  }

  used(): unknown {
    return poolMetrics(this.loops, 0)['MeshService']?.used;
  }

  private async remove({ kind, n: which }: Extract<ZoneStep, { type: 'remove' }>): Promise<void> {
    const name = kind === 'Dataplane' ? `dp-${which}` : which < 3 ? `hand-${which}` : `s-${which % 6}`;
    const id = idOf(kind, name, kind === 'MeshService' && which > 7 ? { zone: 'west' } : {});
    if (await this.harness.get(id)) await this.write(remove(id));
  }

  private async write(...changes: Change[]): Promise<void> {
    await this.harness.write(...changes);
    this.check();
  }

  private async step(): Promise<boolean> {
    const more = (await this.runner?.step()) ?? false;
    this.check();
    return more;
  }

  /** The next write is done, but its answer never comes. */
  private async loseOneWrite(): Promise<void> {
    const store = this.replica?.store;
    if (!store) return;
    const write = store.write.bind(store);
    store.write = async (request) => {
      await write(request);
      store.write = write;
      store.setAway(true);
      return write(request);
    };
    await this.step().catch(() => undefined);
    store.setAway(false);
    store.write = write;
    this.check();
  }

  /** Checks I1 after every commit: no two services share an address, and no address is given again before its cooldown. */
  private check(): void {
    const held = new Map<string, string>();
    for (const [key, row] of this.harness.disk.rows) {
      if (row.vip === undefined) continue;
      if (held.has(row.vip)) throw new Error(`${row.vip} is held by ${held.get(row.vip)} and ${key}`);
      if (!jsonEqual(row.status?.['vip'], { ip: row.vip, type: 'Kuma' }))
        throw new Error(`${key} does not show ${row.vip}`);
      held.set(row.vip, key);
      this.mustHaveRested(key, row.modifiedAt, row.vip);
    }
    for (const [ip, last] of this.history) {
      if (!held.has(ip) && last.freedAt === undefined)
        this.history.set(ip, { ...last, freedAt: this.harness.clock.now() });
    }
    for (const [ip, key] of held) this.history.set(ip, { key });
  }

  private mustHaveRested(key: string, takenAt: number, ip: string): void {
    const last = this.history.get(ip);
    if (!last || last.key === key) return;
    const rested = last.freedAt === undefined ? 0 : takenAt - last.freedAt;
    if (rested < COOLDOWN) throw new Error(`${ip} of ${last.key} went to ${key} after ${rested} ms`);
  }
}

describe('the loops of a zone under any history', () => {
  it('I1 I10: addresses are never shared nor reused early; what has settled stays as it is, for the next leader too', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const zone = new CheckedZone();
        try {
          await zone.lead();
          for (const step of history) await zone.take(step);
          await zone.settle();
          for (const ms of [GRACE, COOLDOWN]) {
            zone.harness.clock.advance(ms);
            await zone.settle();
          }
          const { revision } = zone.harness;
          const before = zone.rows.map(({ id, spec, status }) => ({ id, spec, status }));
          const held = zone.rows.filter(({ status }) => status?.['vip'] !== undefined).length;
          expect(zone.used()).toBe(held);
          expect(held).toBe(Math.min(4, zone.rows.length));
          await zone.lead();
          await zone.settle();
          expect(zone.harness.revision).toBe(revision);
          expect(zone.used()).toBe(held);
          expect(
            zone.rows.every(({ id, spec }) =>
              before.some((b) => jsonEqual({ ...b.id }, { ...id }) && jsonEqual(b.spec, spec)),
            ),
          ).toBe(true);
        } finally {
          await zone.harness.stop();
        }
      }),
      { numRuns: 20 },
    );
  });
});
