import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { ResourceIndex, type LeaseAgent } from '@causeway/store';
import { MemoryAgentLeases, MemoryDisk, MemoryLease, MemoryStore } from '@causeway/store/testing';
import fc from 'fast-check';
import { LeaseHealth } from './lease-conditions';
import { LeaseReaper, MAX_PAUSE, leaseHold, releaseLeases } from './lease-reaper';
import { LEASED_BY, planLeaseEnds } from './plan-lease-ends';

const LENGTH = 10_000;
const OFFICE = LENGTH + MAX_PAUSE;

function agentOf(machine: string): LeaseAgent {
  return { instance: machine, run: `${machine}-1`, startedAt: 1, machine, address: '10.0.0.1' };
}

/** A zone's store in memory, with a leader that checks leases when a test triggers it. */
class LeaseWorld {
  readonly clock = new FakeClock(1_000_000);
  readonly disk = new MemoryDisk({ clock: this.clock });
  readonly store = new MemoryStore(this.disk);
  readonly leases = new MemoryAgentLeases(this.disk);
  readonly index = new ResourceIndex();
  readonly health = new LeaseHealth('east');
  private epoch = 0;

  /** A new leader; the one before is over. */
  async leader(leases: MemoryAgentLeases = this.leases): Promise<LeaseReaper> {
    const lease = new MemoryLease(this.disk);
    const holder = `leader-${this.epoch}`;
    const standing = await lease.readEpoch();
    await lease.release(standing.epoch, standing.holder);
    this.epoch = (await lease.takeOver(standing.epoch, holder, 1e9)) ?? -1;
    const term = { epoch: this.epoch, holder, signal: new AbortController().signal };
    const { store, index, health, clock } = this;
    return new LeaseReaper({
      zone: 'east',
      leases,
      store,
      index,
      term,
      health,
      clock,
      logger: silentLogger,
      length: LENGTH,
      hold: 0.3,
    });
  }

  async register(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const id = { kind: 'Dataplane', mesh: 'default', zone: 'east', namespace: 'default', name };
      const labels = { [LEASED_BY]: name };
      await this.store.write({ changes: [{ type: 'put', id, expect: 'any', labels, spec: {} }], onRefusal: 'abort' });
    }
    this.index.load(await this.store.snapshot());
  }

  async take(...names: readonly string[]): Promise<void> {
    const claims = names.map((name) => ({ ...keyOf(name), agent: agentOf(name), session: name }));
    await this.leases.take(claims, LENGTH);
  }

  async renew(...names: readonly string[]): Promise<void> {
    await this.leases.renew(
      names.map((name) => ({ ...keyOf(name), session: name, age: 0 })),
      LENGTH,
    );
  }

  /** Time passes, a look each second. */
  async pass(ms: number, leader: LeaseReaper, alive: readonly string[] = []): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1_000) {
      this.clock.advance(1_000);
      await this.renew(...alive);
      await leader.turn();
    }
  }

  async names(): Promise<readonly string[]> {
    return (await this.store.snapshot()).resources.map(({ id }) => id.name).sort();
  }
}

function keyOf(name: string) {
  return { mesh: 'default', namespace: 'default', name };
}

describe('the end of leases', () => {
  it('comes after one lease without a heartbeat, with the Dataplane, for a leader long enough in office', async () => {
    const world = new LeaseWorld();
    await world.register('gone', 'here');
    await world.take('gone', 'here');
    const leader = await world.leader();
    await world.pass(OFFICE - 1_000, leader, ['here']);
    expect(await world.names()).toEqual(['gone', 'here']);
    await world.pass(3_000, leader, ['here']);
    expect(await world.names()).toEqual(['here']);
    expect((await world.leases.page(0, 9)).leases.map(({ name }) => name)).toEqual(['here']);
    expect(leader.counts).toMatchObject({ ended: 1, isHeld: false });
  });

  it('ends nobody after the leader, or the store, was away: it begins anew', async () => {
    const world = new LeaseWorld();
    await world.register('a', 'b');
    await world.take('a', 'b');
    const leader = await world.leader();
    await world.pass(OFFICE + 1_000, leader, ['a', 'b']);
    // For two leases no leader checks, and no agent can renew.
    world.clock.advance(2 * LENGTH);
    await leader.turn();
    expect(await world.names()).toEqual(['a', 'b']);
    await world.pass(OFFICE + 2_000, leader, ['a', 'b']);
    expect(await world.names()).toEqual(['a', 'b']);
    const next = await world.leader();
    await world.pass(OFFICE - 1_000, next);
    expect(await world.names()).toEqual(['a', 'b']);
    await world.pass(3_000, next);
    expect(await world.names()).toEqual([]);
  });

  it('is put off while agents still come back, a minute at most', async () => {
    const world = new LeaseWorld();
    const all = Array.from({ length: 20 }, (_, i) => `a${i}`);
    await world.register(...all, 'gone');
    await world.take(...all, 'gone');
    world.clock.advance(2 * LENGTH);
    const leader = await world.leader();
    for (let back = 1; back <= all.length; back++) await world.pass(1_000, leader, all.slice(0, back));
    expect(await world.names()).toEqual([...all, 'gone'].sort());
    await world.pass(MAX_PAUSE + 1_000, leader, all);
    expect(await world.names()).toEqual([...all].sort());
    // An agent that comes and goes for ever does not protect the leases of others.
    await world.register('ended');
    await world.take('ended');
    world.clock.advance(2 * LENGTH);
    for (let second = 0; second < 60; second++) await world.pass(1_000, leader, second % 20 < 11 ? all : all.slice(1));
    expect(await world.names()).toEqual([...all].sort());
  });

  it('ends nobody where the clock of the store jumps', async () => {
    const world = new LeaseWorld();
    await world.register('a');
    await world.take('a');
    let ahead = 0;
    class JumpingLeases extends MemoryAgentLeases {
      override async survey(most: number): ReturnType<MemoryAgentLeases['survey']> {
        const survey = await super.survey(most);
        const { leases } = await super.page(0, 10);
        const expired = leases.filter(({ expiresAt }) => expiresAt <= survey.now + ahead);
        return { ...survey, now: survey.now + ahead, expired, expiredTotal: expired.length };
      }
    }
    const leader = await world.leader(new JumpingLeases(world.disk));
    await world.pass(OFFICE + 1_000, leader, ['a']);
    ahead = 3_600_000;
    await world.pass(5_000, leader, ['a']);
    expect(await world.names()).toEqual(['a']);
  });

  it('is held where many end at once; those that come back end the hold, or an operator does', async () => {
    const world = new LeaseWorld();
    const all = Array.from({ length: 10 }, (_, i) => `a${i}`);
    await world.register(...all);
    await world.take(...all);
    const leader = await world.leader();
    await world.pass(OFFICE + 1_000, leader, all);
    const alive = all.slice(0, 5);
    await world.pass(3 * LENGTH, leader, alive);
    expect(await world.names()).toEqual(all);
    expect(await leaseHold(world.store)).toMatchObject({ expired: 5, total: 10 });
    // Four come back: one of ten is gone.
    await world.pass(3_000, leader, all.slice(0, 9));
    expect(await world.names()).toEqual(all.slice(0, 9));
    expect(await leaseHold(world.store)).toBeUndefined();

    await world.pass(3 * LENGTH, leader, alive);
    expect((await world.names()).length).toBe(9);
    // Another leader holds as well, and follows the operator's decision.
    const next = await world.leader();
    await world.pass(OFFICE + 2_000, next, alive);
    expect((await world.names()).length).toBe(9);
    expect(await releaseLeases(world, 'anna')).toEqual({ released: 4 });
    await world.pass(2_000, next, alive);
    expect(await world.names()).toEqual(alive);
    await world.pass(2_000, next, alive);
    expect(await leaseHold(world.store)).toBeUndefined();
  });

  it('ends nothing by a leader that is over', async () => {
    const world = new LeaseWorld();
    await world.register('a');
    await world.take('a');
    const old = await world.leader();
    await world.pass(LENGTH - 1_000, old);
    await world.leader();
    await expect(world.pass(2 * LENGTH, old)).rejects.toThrow(/epoch/);
    expect(await world.names()).toEqual(['a']);
  });

  it('comes to a Dataplane that says it is leased and is not, unless its agent takes it', async () => {
    const world = new LeaseWorld();
    await world.register('orphan', 'back');
    const leader = await world.leader();
    await world.pass(OFFICE + 1_000, leader);
    expect((await world.leases.page(0, 9)).total).toBe(2);
    await world.take('back');
    await world.pass(LENGTH + 2_000, leader, ['back']);
    expect(await world.names()).toEqual(['back']);
  });

  it('never ends more than the share at once unless they are released (random surveys)', () => {
    const lease = fc.record({ expiresAt: fc.integer({ min: 0, max: 100 }) });
    const view = fc.record({ leases: fc.array(lease, { maxLength: 40 }), living: fc.nat(100), recent: fc.nat(20) });
    fc.assert(
      fc.property(view, fc.option(fc.integer({ min: 0, max: 100 })), ({ leases, living, recent }, released) => {
        const expired = leases.map(({ expiresAt }, i) => ({ ...keyOf(`a${i}`), session: '', machine: '', expiresAt }));
        const total = expired.length + living;
        const { end, isHeld } = planLeaseEnds({
          now: 100,
          total,
          expired,
          expiredTotal: expired.length,
          recent,
          hold: 0.3,
          ...(released !== null && { releasedUntil: released }),
        });
        const unreleased = end.filter(({ expiresAt }) => expiresAt > (released ?? -1)).length;
        if (unreleased > 0) expect(unreleased + recent <= Math.max(3, 0.3 * (total + recent))).toBe(true);
        if (!isHeld) expect(end).toEqual(expired);
      }),
    );
  });
});
