import { findCondition, identityKey, withCondition, type Resource, type ResourceKey } from '@causeway/resources';
import type { Change, IndexChange } from '@causeway/store';
import { idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { ListenedTable } from '../../../../test/support/listened-table';
import { keysOfTable, NO_KEYS, type RESCAN } from '@causeway/loops';
import {
  createStatusLoop,
  type StatusLoopOptions,
  type StatusMoment,
  type StatusPlan,
  type StatusPlanner,
} from './status-reconciler';

const SECOND = 1_000;
const KIND = 'MeshService';
const web = idOf(KIND, 'web');
const WEB = identityKey(web);

/** Writes how many proxies have applied a MeshService of zone east, of two. */
class AppliedPlanner implements StatusPlanner {
  readonly name = 'applied';
  readonly kinds = [KIND];
  isReady = true;
  applied = 0;
  readonly planned: { readonly key: string; readonly since: number; readonly mayReport: boolean }[] = [];
  readonly forgotten: string[] = [];
  readonly removed: string[] = [];

  writes({ id }: Resource): boolean {
    return id.kind === KIND && id.zone === 'east';
  }

  listKeys({ id, key, before, after }: IndexChange): readonly (ResourceKey | typeof RESCAN)[] {
    return id.kind !== KIND || before?.status === after?.status ? NO_KEYS : [key];
  }

  affectedBy({ id, key }: IndexChange): readonly ResourceKey[] {
    return id.kind === 'Dataplane' ? [WEB] : id.kind === KIND ? [key] : NO_KEYS;
  }

  plan({ id, revision, generation, status = {} }: Resource, { now, wait }: StatusMoment): StatusPlan {
    const { since, mayReport } = wait();
    this.planned.push({ key: id.name, since, mayReport });
    const isPending = this.applied < 2;
    if (isPending && !mayReport) return { change: undefined, isPending };
    const message = `applied by ${this.applied} of 2`;
    const condition = { type: 'Applied', status: isPending ? 'False' : 'True', reason: 'R', message } as const;
    const next = withCondition(status, { ...condition, observedGeneration: generation }, now);
    const change = next === status ? undefined : ({ type: 'patch', id, expect: revision, status: next } as const);
    return { change, isPending, isReport: isPending };
  }

  forget(key: string): void {
    this.forgotten.push(key);
  }

  remove(key: string): void {
    this.removed.push(key);
  }
}

describe('a status loop', () => {
  let harness: LoopHarness;
  let replica: Replica;
  let planner: AppliedPlanner;
  const term = new AbortController();
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    planner = new AppliedPlanner();
    await harness.write(put(web, { ports: [{ port: 80 }] }));
  });
  afterEach(() => harness.stop());

  const lead = async (options: Omit<StatusLoopOptions, 'planner'> = {}): Promise<void> => {
    await replica.lead([createStatusLoop({ planner, ...options }, term)]);
    await replica.settle();
  };
  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const pass = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds; i++) {
      harness.clock.advance(SECOND);
      await replica.settle();
    }
  };
  const message = async (): Promise<unknown> => findCondition((await harness.get(web))?.status, 'Applied')?.['message'];
  /** Returns how many statuses were planned during `work`. */
  const plans = async (work: () => Promise<void>): Promise<number> => {
    const before = planner.planned.length;
    await work();
    return planner.planned.length - before;
  };

  it('writes a status once, and again where another writer changed it', async () => {
    planner.applied = 2;
    await lead();
    expect(await message()).toBe('applied by 2 of 2');
    const { revision } = harness;
    await pass(60);
    expect(harness.revision).toBe(revision);
    await apply({ type: 'patch', id: web, expect: 'any', status: {} });
    expect(await message()).toBe('applied by 2 of 2');
  });

  it('leaves alone what others write, and forgets what is gone', async () => {
    planner.applied = 2;
    await lead();
    await apply(put(idOf(KIND, 'copy', { zone: 'west' }), { ports: [{ port: 80 }] }));
    expect(planner.planned.map(({ key }) => key)).not.toContain('copy');
    await apply(remove(web));
    expect(planner.removed).toContain(WEB);
  });

  it('reports who is waited for after 10 s, and then every 10 s', async () => {
    await lead();
    await pass(8);
    expect(await message()).toBeUndefined();
    await pass(4);
    expect(await message()).toBe('applied by 0 of 2');
    planner.applied = 1;
    await pass(6);
    expect(await message()).toBe('applied by 0 of 2');
    await pass(8);
    expect(await message()).toBe('applied by 1 of 2');
  });

  it('plans a pending status more and more seldom, and at once when something is reported', async () => {
    let version = '1';
    const progress = {
      get version() {
        return version;
      },
    };
    await lead({ progress });
    expect(await plans(() => pass(4))).toBe(4);
    await pass(300);
    expect(await plans(() => pass(60))).toBe(2);
    version = '2';
    expect(await plans(() => pass(1))).toBe(1);
    planner.applied = 2;
    version = '3';
    await pass(1);
    expect(await message()).toBe('applied by 2 of 2');
    version = '4';
    expect(await plans(() => pass(60))).toBe(0);
  });

  it('plans what other proxies than before do not support, and what is outside the index, and all where that is unknown', async () => {
    planner.applied = 2;
    let version = '1';
    let changed: readonly ResourceKey[] = [];
    let outside: readonly (ResourceKey | typeof RESCAN)[] = [];
    let kumaZones: readonly string[] = [];
    const progress = {
      get version() {
        return version;
      },
      kumaZones: () => kumaZones,
    };
    await lead({ progress, unsupported: { takeChanged: () => changed }, takeOutside: () => outside });
    version = '2';
    changed = [WEB];
    expect(await plans(() => pass(1))).toBe(1);
    version = '3';
    changed = [];
    outside = [WEB];
    expect(await plans(() => pass(1))).toBe(1);
    outside = [];
    kumaZones = ['kuma-1'];
    expect(await plans(() => pass(1))).toBe(1);
    expect(await plans(() => pass(5))).toBe(0);
  });

  it('waits anew for what a table announces, and walks the index after a reload', async () => {
    const table = new ListenedTable<readonly ResourceKey[]>();
    const source = keysOfTable(table, (keys) => keys);
    await lead({ sources: [source] });
    await pass(12);
    const [first] = planner.planned;
    await harness.write(put(idOf('Mesh', 'default', { zone: '', mesh: '' }), {}));
    planner.forgotten.length = 0;
    table.announce([WEB]);
    await pass(1);
    expect(planner.forgotten).toEqual([WEB]);
    const last = planner.planned.at(-1);
    expect(last?.since).toBeGreaterThan(first?.since ?? Infinity);
    expect(last?.mayReport).toBe(false);
    planner.applied = 2;
    await pass(5);
    table.reload();
    expect(await plans(() => pass(1))).toBe(1);
    table.hasLoaded = false;
    table.announce([WEB]);
    expect(await plans(() => pass(1))).toBe(0);
  });

  it('waits anew for what a change of the index affects, and plans nothing while it is not ready', async () => {
    planner.applied = 2;
    await lead();
    planner.isReady = false;
    const dataplane = put(idOf('Dataplane', 'web-1'), { networking: { address: '10.0.0.1', inbound: [] } });
    expect(await plans(() => apply(dataplane))).toBe(0);
    planner.isReady = true;
    planner.forgotten.length = 0;
    expect(await plans(() => apply(remove(idOf('Dataplane', 'web-1'))))).toBe(1);
    expect(planner.forgotten).toEqual([WEB]);
  });
});
