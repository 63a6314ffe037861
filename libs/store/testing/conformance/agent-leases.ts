import type { AgentLease, LeaseAgent, LeaseClaim, LeaseKey, LostLease } from '../../src/agent-leases';
import { Fenced } from '../../src/resource-store';
import { freshId, put, write, type StoreFixture } from './store-fixture';

const LONG = 60_000;

function createLeaseAgent(machine: string, more: Partial<LeaseAgent> = {}): LeaseAgent {
  return { instance: machine, run: `${machine}-1`, startedAt: 1_000, machine, address: '10.0.0.1', ...more };
}

/** An agent with a secret, or without one. */
type AgentClaim = LeaseAgent & Pick<LeaseClaim, 'secretHash'>;

function proven(agent: LeaseAgent, secretHash: string): AgentClaim {
  return { ...agent, secretHash };
}

/** Leases of agents: beside the log, on the store's clock (docs/reference/leases.md). */
export function describeAgentLeases(world: () => StoreFixture): void {
  describe('leases of agents', () => {
    const key = (): LeaseKey => ({ mesh: freshId().name, namespace: 'default', name: freshId().name });
    const take = async (
      of: LeaseKey,
      by: AgentClaim,
      session: string,
      length = LONG,
    ): Promise<AgentLease | 'taken'> => {
      const { secretHash, ...agent } = by;
      const claim = { ...of, agent, session, ...(secretHash !== undefined && { secretHash }) };
      const [answer] = await world().agentLeases.take([claim], length);
      return answer?.type === 'held' ? answer.by : 'taken';
    };
    const stored = async ({ mesh, name }: LeaseKey): Promise<AgentLease | undefined> =>
      (await world().agentLeases.changedSince(0)).leases.find((one) => one.mesh === mesh && one.name === name);
    const lead = async (): Promise<{ epoch: number; holder: string }> => {
      const { lease } = world();
      const { epoch, holder } = await lease.readEpoch();
      await lease.release(epoch, holder);
      return { epoch: (await lease.takeOver(epoch, 'leases', 1)) ?? -1, holder: 'leases' };
    };

    it('are taken by one agent; another one gets the holder as its answer, until it ends', async () => {
      const of = key();
      const { store } = world();
      const head = await store.head();
      expect(await take(of, createLeaseAgent('a'), 's1')).toBe('taken');
      expect(await take(of, createLeaseAgent('b'), 's2')).toMatchObject({ instance: 'a', machine: 'a', session: 's1' });
      expect(await store.head()).toEqual(head);
      const short = key();
      expect(await take(short, createLeaseAgent('a'), 's1', 0)).toBe('taken');
      expect(await take(short, createLeaseAgent('b'), 's2')).toBe('taken');
      expect(await stored(short)).toMatchObject({ instance: 'b', session: 's2' });
    });

    it('go over to the same run, and to a later one at the same address; to no copy of the agent', async () => {
      const of = key();
      await take(of, createLeaseAgent('a'), 's1');
      const first = await stored(of);
      expect(await take(of, createLeaseAgent('a', { address: '10.0.0.2' }), 's2')).toBe('taken');
      expect(await stored(of)).toMatchObject({ session: 's2', since: first?.since });
      const copy = { run: 'copy', startedAt: 2_000, address: '10.0.0.9' };
      expect(await take(of, createLeaseAgent('a', copy), 's3')).toMatchObject({ session: 's2' });
      const later = { run: 'later', startedAt: 2_000, address: '10.0.0.2' };
      expect(await take(of, createLeaseAgent('a', later), 's4')).toBe('taken');
      expect(await take(of, createLeaseAgent('a', { address: '10.0.0.2' }), 's5')).toMatchObject({ session: 's4' });
    });

    it('go over by the secret that was shown last, and by no label; without one by what their agents say', async () => {
      const [of, old] = [key(), key()];
      const later = (run: string, startedAt: number): LeaseAgent => createLeaseAgent('a', { run, startedAt });
      expect(await take(of, proven(createLeaseAgent('a'), 'hash'), 's1')).toBe('taken');
      // A thief knows everything that labels and lists show, and calls from the same address.
      for (const shown of [{}, ...['', 'other', 'hash2', 'has'].map((secretHash) => ({ secretHash }))])
        expect(await take(of, { ...later('thief', 3_000), ...shown }, 's2')).toMatchObject({
          session: 's1',
          run: 'a-1',
        });
      expect(await take(of, createLeaseAgent('a'), 's3')).toMatchObject({ session: 's1' });
      expect(await take(of, proven(createLeaseAgent('a'), 'hash'), 's3')).toBe('taken');
      expect(await take(of, proven(later('killed', 2_000), 'hash'), 's4')).toBe('taken');
      expect(JSON.stringify(await stored(of))).not.toContain('hash');
      expect(await take(of, proven(createLeaseAgent('b'), 'hash'), 's5')).toMatchObject({ session: 's4' });
      const copy = { run: 'copy', startedAt: 4_000, address: '10.0.0.9' };
      expect(await take(of, proven(createLeaseAgent('a', copy), 'hash'), 's6')).toMatchObject({ session: 's4' });

      expect(await take(old, createLeaseAgent('a'), 's1')).toBe('taken');
      expect(await take(old, later('a-2', 2_000), 's2')).toBe('taken');
      expect(await take(old, proven(later('a-3', 3_000), 'hash'), 's3')).toBe('taken');
      expect(await take(old, later('a-4', 4_000), 's4')).toMatchObject({ session: 's3' });
    });

    it('that have ended are free for everybody, with the secret of who has them then', async () => {
      const of = key();
      await take(of, proven(createLeaseAgent('a'), 'hash of a'), 's1', 0);
      expect(await take(of, proven(createLeaseAgent('b'), 'hash of b'), 's2')).toBe('taken');
      expect(
        await take(of, proven(createLeaseAgent('b', { startedAt: 2_000, run: 'x' }), 'hash of a'), 's3'),
      ).toMatchObject({
        session: 's2',
      });
      expect(await take(of, proven(createLeaseAgent('b', { startedAt: 2_000, run: 'x' }), 'hash of b'), 's3')).toBe(
        'taken',
      );
      await world().agentLeases.drop({ ...of, session: 's3' });
      expect(await take(of, proven(createLeaseAgent('b'), 'another'), 's4', 0)).toBe('taken');
      // An agent of an earlier version takes an expired lease, and its own instance id counts from then on.
      expect(await take(of, createLeaseAgent('b'), 's5')).toBe('taken');
      expect(await take(of, createLeaseAgent('b', { startedAt: 2_000, run: 'x' }), 's6')).toBe('taken');
    });

    it('are found by their Dataplanes', async () => {
      const [one, two, free] = [key(), key(), key()];
      await take(one, createLeaseAgent('a'), 's1');
      await take(two, createLeaseAgent('b'), 's2');
      const found = await world().agentLeases.find([two, free, { ...one, namespace: 'other' }, one]);
      expect(found.map(({ name, machine }) => ({ name, machine }))).toEqual(
        expect.arrayContaining([
          { name: one.name, machine: 'a' },
          { name: two.name, machine: 'b' },
        ]),
      );
      expect(found).toHaveLength(2);
      expect(await world().agentLeases.find([])).toEqual([]);
    });

    it('are answered in the order of the claims', async () => {
      const [mine, theirs] = [key(), key()];
      await take(theirs, createLeaseAgent('b'), 's');
      const claim = (of: LeaseKey): LeaseClaim => ({ ...of, agent: createLeaseAgent('a'), session: 't' });
      const answers = await world().agentLeases.take([theirs, mine].map(claim), LONG);
      expect(answers.map(({ type }) => type)).toEqual(['held', 'taken']);
    });

    it('are renewed by the session that holds them, counted from when the agent was heard', async () => {
      const { agentLeases } = world();
      const [of, lost] = [key(), key()];
      await take(of, createLeaseAgent('a'), 's1', 0);
      await take(lost, createLeaseAgent('b'), 's2');
      const renew = (age: number, length: number): Promise<readonly LostLease[]> =>
        agentLeases.renew(
          [
            { ...of, session: 's1', age },
            { ...lost, session: 's1', age },
          ],
          length,
        );
      expect(await renew(LONG, LONG)).toEqual([{ ...lost, taken: true }]);
      const { now } = await agentLeases.survey(0);
      expect((await stored(of))?.expiresAt).toBeLessThanOrEqual(now);
      await renew(0, LONG);
      expect((await stored(of))?.expiresAt).toBeGreaterThan(now + LONG / 2);
      await agentLeases.drop({ ...of, session: 'other' });
      expect(await stored(of)).toBeDefined();
      await agentLeases.drop({ ...of, session: 's1' });
      expect(await stored(of)).toBeUndefined();
      const gone = await renew(0, LONG);
      expect(gone).toHaveLength(2);
      expect(gone).toEqual(
        expect.arrayContaining([
          { ...of, taken: false },
          { ...lost, taken: true },
        ]),
      );
    });

    it('say what was checked; a heartbeat alone changes nothing', async () => {
      const { agentLeases } = world();
      const of = key();
      await take(of, createLeaseAgent('a'), 's1');
      const health = [{ inbound: 0, ready: false, check: 'tcp 127.0.0.1:1', reason: 'refused', since: 7 }];
      await agentLeases.renew([{ ...of, session: 's1', age: 0, health }], LONG);
      const received = await stored(of);
      expect(received).toMatchObject({ health });
      await agentLeases.renew([{ ...of, session: 's1', age: 0 }], LONG);
      await agentLeases.renew([{ ...of, session: 's1', age: 0, health }], LONG);
      expect(await stored(of)).toMatchObject({ health, changedAt: received?.changedAt });
      const { leases } = await agentLeases.changedSince((received?.changedAt ?? 0) + 1);
      expect(leases.filter(({ name }) => name === of.name)).toEqual([]);
    });

    it('are shown page by page', async () => {
      const { agentLeases } = world();
      const { mesh } = key();
      const all = ['a', 'b', 'c'].map((name) => ({ mesh, namespace: 'default', name }));
      for (const of of all) await take(of, createLeaseAgent('a'), 's');
      const whole = await agentLeases.page(0, 1_000);
      expect(whole.total).toBe(whole.leases.length);
      const at = whole.leases.findIndex((lease) => lease.mesh === mesh);
      const names = async (offset: number, most: number): Promise<readonly string[]> =>
        (await agentLeases.page(offset, most)).leases.map(({ name }) => name);
      expect(await names(at, 2)).toEqual(['a', 'b']);
      expect(await names(at + 2, 1)).toEqual(['c']);
      expect(await agentLeases.page(whole.total, 5)).toEqual({ total: whole.total, leases: [] });
    });

    it('are found when they have expired, also by who has just found none', async () => {
      const { agentLeases } = world();
      const { expired: before } = await agentLeases.survey(1_000);
      for (const one of before) await agentLeases.drop(one);
      const [living, later] = [key(), key()];
      await take(living, createLeaseAgent('a'), 's1');
      await take(later, createLeaseAgent('b'), 's2');
      expect(await agentLeases.survey(10)).toMatchObject({ expired: [], expiredTotal: 0 });
      const over = key();
      await take(over, createLeaseAgent('c'), 's3', 0);
      expect(await agentLeases.survey(10)).toMatchObject({ expired: [over], expiredTotal: 1 });
      await agentLeases.drop({ ...over, session: 's3' });
      expect((await agentLeases.survey(10)).expiredTotal).toBe(0);
      // The same agent returns with a shorter lease.
      await take(later, createLeaseAgent('b'), 's4', 0);
      expect(await agentLeases.survey(10)).toMatchObject({ expired: [later], expiredTotal: 1 });
      await agentLeases.renew([{ ...later, session: 's4', age: 0 }], LONG);
      expect((await agentLeases.survey(10)).expiredTotal).toBe(0);
    });

    it('end together with their Dataplanes, unless they were renewed or taken meanwhile', async () => {
      const { agentLeases, store } = world();
      const [over, renewed, taken] = [key(), key(), key()];
      const dataplane = (of: LeaseKey) => ({ kind: 'Dataplane', zone: 'east', ...of });
      const held = [over, renewed, taken];
      await write(store, ...held.map((of) => put(dataplane(of))));
      for (const of of held) await take(of, createLeaseAgent('a'), 's1', 0);
      const { expired, expiredTotal, total } = await agentLeases.survey(1_000);
      expect(expired.filter(({ mesh }) => held.some((of) => of.mesh === mesh))).toHaveLength(3);
      expect(expiredTotal).toBe(expired.length);
      expect(total).toBeGreaterThanOrEqual(3);
      expect((await agentLeases.survey(1)).expired).toHaveLength(1);
      await agentLeases.renew([{ ...renewed, session: 's1', age: 0 }], LONG);
      await take(taken, createLeaseAgent('b'), 's2', 0);

      const fence = await lead();
      const leases = held.map((of) => ({ ...of, session: 's1' }));
      const stale = { ...fence, epoch: fence.epoch - 1 };
      await expect(agentLeases.end(leases, { zone: 'east', fence: stale })).rejects.toBeInstanceOf(Fenced);
      expect(await stored(over)).toBeDefined();
      expect(await agentLeases.end(leases, { zone: 'east', fence })).toEqual([over]);
      expect(await stored(over)).toBeUndefined();
      const left = await Promise.all(held.map((of) => store.get(dataplane(of))));
      expect(left.map((one) => one !== undefined)).toEqual([false, true, true]);
      expect(await agentLeases.end(leases, { zone: 'east', fence })).toEqual([]);
    });

    it('end although the Dataplane is gone; one that nobody holds is taken by anybody', async () => {
      const { agentLeases } = world();
      const [bare, free] = [key(), key()];
      await agentLeases.adopt([bare], 0);
      await agentLeases.adopt([bare, free], LONG);
      expect(await take(free, createLeaseAgent('a'), 's1')).toBe('taken');
      const ended = await agentLeases.end([{ ...bare, session: '' }], { zone: 'east', fence: await lead() });
      expect(ended).toEqual([bare]);
    });
  });
}
