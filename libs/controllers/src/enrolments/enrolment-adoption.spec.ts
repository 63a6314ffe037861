import { enrolmentEpochId, findEnrolment, isEnrolmentInForce } from '@causeway/identity';
import { EnrolmentEpoch } from '@causeway/kinds';
import { silentLogger, systemClock, type LeaderTerm } from '@causeway/runtime';
import type { ResourceStore } from '@causeway/store';
import { MemoryLease } from '@causeway/store/testing';
import { TestPlane } from '../../../../test/support/test-plane';
import { LEASED_BY } from '../leases/plan-lease-ends';
import { ENROLMENT_REPLICAS, EnrolmentAdoption } from './enrolment-adoption';

const EAST = { role: 'zone', zone: 'east', federated: true } as const;

describe('the adoption of what a zone had before it went by enrolments', () => {
  let plane: TestPlane;
  let live: readonly string[];
  let joined = 0;

  beforeEach(() => {
    plane = new TestPlane(EAST);
    live = ['new-1'];
  });
  afterEach(() => plane.close());

  const knows = (key: string): Promise<unknown> =>
    plane.store.write({ changes: [], onRefusal: 'abort', metadata: [{ area: ENROLMENT_REPLICAS, key, value: {} }] });
  const join = async (): Promise<string> => {
    const name = `d-${++joined}`;
    const inbound = [{ port: 1, tags: { 'kuma.io/service': name } }];
    await plane.put('Dataplane', name, { networking: { address: '127.0.0.1', inbound } }, { [LEASED_BY]: 'vm' });
    return name;
  };
  const servicesOfEnrolled = (name: string): readonly string[] | undefined =>
    findEnrolment(plane.index, plane.id('Dataplane', name))?.spec.services;
  const isAdopting = (): boolean | undefined => {
    const epoch = plane.index.get(enrolmentEpochId('east'));
    return epoch && EnrolmentEpoch.is(epoch) ? epoch.spec.adopting === true : undefined;
  };
  /** A new leader, whose writes go to `store`. */
  async function leader(
    store: Pick<ResourceStore, 'write' | 'listMetadata'> = plane.store,
  ): Promise<EnrolmentAdoption> {
    const lease = new MemoryLease(plane.disk);
    const before = await lease.readEpoch();
    await lease.release(before.epoch, before.holder);
    const epoch = (await lease.takeOver(before.epoch, 'leader', 60_000)) ?? -1;
    const term: LeaderTerm = { epoch, holder: 'leader', signal: new AbortController().signal };
    return new EnrolmentAdoption({
      cp: EAST,
      zone: 'east',
      index: plane.index,
      store,
      term,
      clock: systemClock,
      logger: silentLogger,
      proxies: { isLoaded: true, liveReplicas: () => live },
    });
  }
  /** A look of a leader, before which a machine joins under the old rule; its index follows. */
  async function turn(adoption: EnrolmentAdoption): Promise<void> {
    await adoption.turn();
    await plane.index.reached((await plane.store.head()).revision);
  }

  it('ends although a machine joins before every look, and misses none of them', async () => {
    await knows('new-1');
    // As a replica does that reads the index a moment before the epoch is in it.
    const early: string[] = [await join()];
    const joining = {
      listMetadata: (...args: Parameters<ResourceStore['listMetadata']>) => plane.store.listMetadata(...args),
      write: async (...args: Parameters<ResourceStore['write']>) => {
        if (isAdopting() === undefined) early.push(await join());
        return plane.store.write(...args);
      },
    };
    const adoption = await leader(joining);
    await turn(adoption);
    expect(isEnrolmentInForce(plane.index, 'east')).toBe(true);
    expect(isAdopting()).toBe(true);
    await turn(adoption);
    await turn(adoption);
    expect(isAdopting()).toBe(false);
    expect(early).toHaveLength(3);
    expect(early.map(servicesOfEnrolled)).toEqual(early.map((name) => [name]));
  });

  it('waits for every replica that lives, and enrols meanwhile', async () => {
    await knows('new-1');
    live = ['new-1', 'old'];
    const adoption = await leader();
    const name = await join();
    await turn(adoption);
    expect([servicesOfEnrolled(name), isAdopting()]).toEqual([[name], undefined]);
    live = ['new-1'];
    await turn(adoption);
    expect(isAdopting()).toBe(true);
  });

  it('is finished by the next leader, and enrols nothing that came after', async () => {
    await knows('new-1');
    const early = await join();
    const failing = {
      listMetadata: (...args: Parameters<ResourceStore['listMetadata']>) => plane.store.listMetadata(...args),
      write: async (...args: Parameters<ResourceStore['write']>) => {
        const [change] = args[0].changes;
        if (change?.id.kind === 'Enrolment') throw new Error('killed');
        return plane.store.write(...args);
      },
    };
    await expect((await leader(failing)).turn()).rejects.toThrow('killed');
    expect(isAdopting()).toBeUndefined();

    const adoption = await leader();
    await turn(adoption);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const late = await join();
    const next = await leader();
    await turn(next);
    expect(isAdopting()).toBe(false);
    expect([servicesOfEnrolled(early), servicesOfEnrolled(late)]).toEqual([[early], undefined]);
    const { revision } = await plane.store.head();
    await turn(next);
    expect((await plane.store.head()).revision).toBe(revision);
  });
});
