import { globalIdentity, Unavailable } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { Fenced, type Change, type IndexEvent, type WriteResult } from '@causeway/store';
import { MemoryStore } from '@causeway/store/testing';
import { LapsingTerm } from '../../../../test/support/lapsing-term';
import { LoopHarness, put } from '../../../../test/support/loop-harness';
import type { ControlLoop, LoopPlan } from './control-loop';
import { LoopRunner } from './loop-runner';

/** Writes a list of changes, one plan each, and remembers what happened to it. */
class Scripted implements ControlLoop {
  readonly plans: (LoopPlan | (() => LoopPlan))[] = [];
  readonly calls: string[] = [];

  constructor(readonly name: string) {}

  reset(): void {
    this.calls.push('reset');
  }

  observe(event: IndexEvent): void {
    this.calls.push(`saw ${event.changes.map((change) => change.id.name).join()}`);
  }

  plan(): LoopPlan | undefined {
    const next = this.plans.shift();
    return typeof next === 'function' ? next() : next;
  }

  onWritten(_: readonly Change[], result: WriteResult): void {
    this.calls.push(`settled ${result.results.map((r) => (r.type === 'refused' ? r.refusal : r.type)).join()}`);
  }
}

const mesh = (name: string): Change => put(globalIdentity('Mesh', name), {});

describe('LoopRunner', () => {
  let harness: LoopHarness;
  beforeEach(() => (harness = new LoopHarness()));
  afterEach(() => harness.stop());

  it('resets, then writes what all loops want at once, and settles only after the index holds the write', async () => {
    const [first, second] = [new Scripted('first'), new Scripted('second')];
    first.plans.push({ changes: [mesh('a')] }, { changes: [] }, { changes: [mesh('c')] });
    second.plans.push({ changes: [mesh('b')] });
    const replica = harness.replica();
    const runner = await replica.lead([first, second]);
    await replica.settle();
    expect(first.calls).toEqual(['reset', 'saw a,b', 'settled written']);
    expect(second.calls).toEqual(['reset', 'saw a,b', 'settled written']);
    await replica.settle();
    expect(first.calls.at(-1)).toBe('settled written');
    expect(runner.stats.loops['first']).toMatchObject({ writes: 2, written: 2, refused: 0 });
  });

  it('writes one by one what cannot be written together, so that one bad change stops nobody else', async () => {
    const [bad, good] = [new Scripted('bad'), new Scripted('good')];
    const replica = harness.replica();
    const write = replica.store.write.bind(replica.store);
    replica.store.write = (request) =>
      request.changes.some(({ id }) => id.name === 'poison') ? Promise.reject(new Error('a bug')) : write(request);
    for (let i = 0; i < 3; i++) bad.plans.push({ changes: [mesh('poison')] });
    good.plans.push({ changes: [mesh('lost')] }, { changes: [mesh('a')] }, { changes: [mesh('b')] });
    const runner = await replica.lead([bad, good]);
    await replica.settle();
    expect(good.calls.filter((line) => line.startsWith('settled'))).toEqual(['settled written', 'settled written']);
    expect(runner.stats.loops).toMatchObject({ bad: { errors: 1 }, good: { errors: 0, written: 2 } });
    expect(replica.index.countKind('Mesh')).toBe(2);
  });

  it('plans nothing before the index holds what the store held when the epoch began', async () => {
    await harness.write(mesh('old'));
    const replica = harness.replica();
    const loop = new Scripted('loop');
    let seen: number | undefined;
    loop.plans.push(() => {
      seen = replica.index.countKind('Mesh');
      return { changes: [] };
    });
    await replica.lead([loop]);
    await replica.settle();
    expect(seen).toBe(1);
  });

  it('I8 ends when another leads: nothing of the older epoch is written', async () => {
    const loop = new Scripted('loop');
    loop.plans.push({ changes: [] }, { changes: [mesh('late')] });
    const [a, b] = [harness.replica('a'), harness.replica('b')];
    const older = await a.lead([loop]);
    await a.settle();
    await b.lead([]);
    await expect(older.step()).rejects.toThrow(Fenced);
    loop.plans.push({ changes: [mesh('late')] });
    await older.run();
    expect(a.index.countKind('Mesh')).toBe(0);
  });

  it('starts anew after a write whose end is unknown', async () => {
    const loop = new Scripted('loop');
    const replica = harness.replica();
    const runner = await replica.lead([loop]);
    await replica.settle();
    loop.plans.push({ changes: [mesh('a')] });
    replica.store.setAway(true);
    await expect(runner.step()).rejects.toThrow(Unavailable);
    await expect(runner.step()).rejects.toThrow(Unavailable);
    replica.store.setAway(false);
    await replica.settle();
    expect(loop.calls).toEqual(['reset', 'reset']);
    expect(runner.stats).toMatchObject({ starts: 2, unavailable: 1 });
  });

  it('run waits while the store is away and goes on by itself', async () => {
    const loop = new Scripted('loop');
    const replica = harness.replica();
    const runner = await replica.lead([loop]);
    replica.store.setAway(true);
    const running = runner.run();
    for (let i = 0; i < 20 && harness.clock.pending === 0; i++) await Promise.resolve();
    expect(harness.clock.pending).toBeGreaterThan(0);
    replica.store.setAway(false);
    for (let i = 0; i < 200 && runner.stats.starts === 0; i++) {
      harness.clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(runner.stats.starts).toBe(1);
    await replica.stop();
    await running;
  });

  it('resets when the index is loaded anew', async () => {
    const loop = new Scripted('loop');
    const replica = harness.replica();
    await replica.lead([loop]);
    await replica.settle();
    replica.index.load(await replica.store.snapshot());
    await replica.settle();
    expect(loop.calls).toEqual(['reset', 'reset']);
  });

  it('ends with the term, whichever look at the term finds that it is over', async () => {
    for (let lapsesAt = 1; ; lapsesAt++) {
      const replica = harness.replica();
      await replica.lead([]);
      const loop = new Scripted('loop');
      loop.plans.push({ changes: [mesh(`a${lapsesAt}`)] }, { changes: [] }, { changes: [mesh(`b${lapsesAt}`)] });
      const term = new LapsingTerm(harness.disk.leader.epoch, 'a', lapsesAt);
      const { store, index, clock } = replica;
      const running = new LoopRunner([loop], { store, index, clock, term, logger: silentLogger }).run();
      for (let turns = 0; turns < 50 && term.looks < lapsesAt; turns++) await new Promise((next) => setImmediate(next));
      const idle = term.looks < lapsesAt;
      term.end();
      await running;
      if (!idle) continue;
      expect(loop.calls).toContain('settled written');
      expect(lapsesAt).toBeGreaterThan(5);
      return;
    }
  });

  it('starts in a new incarnation of the store that began while it started', async () => {
    const loop = new Scripted('loop');
    const replica = harness.replica();
    await replica.lead([loop]);
    await replica.settle();
    const backup = harness.disk.save();
    const head = replica.store.head.bind(replica.store);
    replica.store.head = async () => {
      const old = await head();
      replica.store.head = head;
      harness.disk.restore(backup);
      return old;
    };
    replica.index.load(await replica.store.snapshot());
    loop.plans.push({ changes: [mesh('a')] });
    await replica.settle();
    expect(replica.index.point?.incarnation).toBe(harness.disk.incarnation);
    expect(replica.index.countKind('Mesh')).toBe(1);
  });

  it('sets a loop that throws aside, and the others go on', async () => {
    const [bad, good] = [new Scripted('bad'), new Scripted('good')];
    bad.plans.push(() => {
      throw new Error('a bug');
    });
    good.plans.push({ changes: [mesh('a')] });
    const replica = harness.replica();
    const runner = await replica.lead([bad, good]);
    await replica.settle();
    expect(runner.stats.loops['bad']).toMatchObject({ errors: 1 });
    expect(replica.index.countKind('Mesh')).toBe(1);
    expect(runner.nextWake).toBeGreaterThan(harness.clock.now());

    bad.plans.push({ changes: [mesh('b')] });
    await replica.settle();
    expect(replica.index.countKind('Mesh')).toBe(1);
    harness.clock.advance(5_000);
    await replica.settle();
    expect(replica.index.countKind('Mesh')).toBe(2);
  });

  it('lets a loop whose writes change nothing wait instead of spin', async () => {
    const loop = new Scripted('loop');
    await harness.write(mesh('a'));
    for (let i = 0; i < 100; i++) loop.plans.push({ changes: [mesh('a')] });
    const replica = harness.replica();
    const runner = await replica.lead([loop]);
    await replica.settle();
    expect(runner.stats.loops['loop']).toMatchObject({ writes: 2, unchanged: 2 });
  });

  it('asks a loop that has more to look at again at once, and looks in between whether it still leads', async () => {
    const loop = new Scripted('loop');
    loop.plans.push({ changes: [], more: true }, { changes: [], more: true }, { changes: [mesh('a')] });
    const [a, b] = [harness.replica('a'), harness.replica('b')];
    const runner = await a.lead([loop]);
    await a.settle();
    expect(a.index.countKind('Mesh')).toBe(1);
    loop.plans.push({ changes: [], more: true });
    await b.lead([]);
    await expect(runner.step()).rejects.toThrow(Fenced);
  });

  it('tells each loop of what changes while the others are being reset', async () => {
    const [first, second] = [new Scripted('first'), new Scripted('second')];
    const replica = harness.replica();
    const write = replica.store.write.bind(replica.store);
    let once = true;
    replica.store.write = async (request) => {
      if (once) await harness.write(mesh('meanwhile'));
      once = false;
      return write(request);
    };
    await replica.lead([first, second]);
    await replica.settle();
    expect(first.calls).toEqual(['reset', 'saw meanwhile']);
    expect(second.calls).toEqual(['reset']);
  });

  it('wakes at the time a plan named', async () => {
    const loop = new Scripted('loop');
    loop.plans.push({ changes: [], wakeAt: harness.clock.now() + 500 });
    const replica = harness.replica();
    const runner = await replica.lead([loop]);
    await replica.settle();
    expect(runner.nextWake).toBe(harness.clock.now() + 500);
  });

  it('counts what only a resync found, and writes it', async () => {
    const loop = new Scripted('loop');
    const replica = harness.replica();
    const runner = await replica.lead([loop]);
    await replica.settle();
    loop.plans.push({ changes: [] });
    loop.plans.push({ changes: [mesh('missed')] });
    harness.clock.advance(600_000);
    await replica.settle();
    expect(runner.stats.resyncs).toBe(1);
    expect(runner.stats.loops['loop']).toMatchObject({ differences: 1, written: 1 });
    await harness.write(mesh('seen'));
    loop.plans.push({ changes: [mesh('normal')] });
    await replica.settle();
    expect(runner.stats.loops['loop']).toMatchObject({ differences: 1, written: 2 });
  });

  it('writes notes with the changes and gives them back at the next start', async () => {
    const loop = new Scripted('loop');
    const recorded: unknown[] = [];
    const withMetadata = Object.assign(loop, {
      metadataArea: 'area',
      restore: (entries: unknown) => recorded.push(entries),
    });
    loop.plans.push({ changes: [mesh('a')], metadata: [{ area: 'area', key: 'k', value: { ip: 'x' } }] });
    const [a, b] = [harness.replica('a'), harness.replica('b')];
    await a.lead([withMetadata]);
    await a.settle();
    await b.lead([withMetadata]);
    await b.settle();
    expect(recorded).toEqual([[], [{ area: 'area', key: 'k', value: { ip: 'x' } }]]);
    expect(await new MemoryStore(harness.disk).readMetadata('area', 'k')).toEqual({ ip: 'x' });
  });

  describe('among writes that never pause', () => {
    const BURST = 8;
    const turns = async (loop: Scripted): Promise<number> => {
      const replica = harness.replica();
      const runner = await replica.lead([loop]);
      const running = runner.run();
      const before = loop.plans.length;
      for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
      const taken = before - loop.plans.length;
      await replica.stop();
      await running;
      return taken;
    };

    it('pauses between writes of a few changes, after a burst', async () => {
      const loop = new Scripted('busy');
      for (let i = 0; i < 30; i++) loop.plans.push({ changes: [mesh(`m-${i}`)] });
      // The first turn only starts.
      expect(await turns(loop)).toBe(BURST - 1);
    });

    it('does not pause while a plan says that there is more', async () => {
      const loop = new Scripted('rebuilding');
      for (let i = 0; i < 30; i++) loop.plans.push({ changes: i % 2 ? [mesh(`m-${i}`)] : [], more: true });
      expect(await turns(loop)).toBe(30);
    });
  });
});
