import { NotFound, Unavailable } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import type { ResourceStore } from '@causeway/store';
import { MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { liveAndLeave } from '../../../../test/support/first-incarnation';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };
const HOLD = 300_000;
/** Interval at which a replica reads the operator's decision, ms. */
const POLL_INTERVAL = 5_000;

/** A store that refuses deletions while a test wants it to. */
class UncertainStore extends MemoryStore {
  refusesDeletions = false;

  override write(request: Parameters<ResourceStore['write']>[0]): ReturnType<ResourceStore['write']> {
    if (this.refusesDeletions && request.changes.some(({ type }) => type === 'delete'))
      return Promise.reject(new Unavailable('the database is away'));
    return super.write(request);
  }
}

describe("the operator's confirmation of a zone's new incarnation", () => {
  const clock = new FakeClock(1_000_000);
  const options = { clock, hold: HOLD };
  let disk: MemoryDisk;
  let store: UncertainStore;
  let global: TestGlobal;
  let other: TestGlobal;
  let first: TestZone;
  let second: TestZone;

  beforeEach(async () => {
    disk = new MemoryDisk();
    store = new UncertainStore(disk);
    global = new TestGlobal({ ...options, store }, disk);
    other = new TestGlobal({ ...options, instance: 'global-2' }, disk);
    first = new TestZone('east');
    // Installed anew with the same name and store id, and nothing else.
    second = new TestZone('east', {}, new MemoryDisk());
    await global.put('Mesh', 'default', {});
    await Promise.all([global.serve(), other.serve()]);
    await liveAndLeave(first, global, SPEC);
    await second.join(global);
    expect((await global.report('east', 'MeshService', 'up')).held).toBe(2);
  });

  afterEach(async () => {
    await Promise.all([first.close(), second.close()]);
    await Promise.all([global.close(), other.close()]);
    await store.close();
  });

  const gone = (): Promise<void> => global.until(() => global.names('MeshService').length === 0);

  it('counts at once on the replica that has the stream', async () => {
    const { incarnation } = await second.store.head();
    expect(await global.sync?.confirm('east')).toEqual({ incarnation, since: clock.now() });
    await gone();
    expect(await global.sync?.confirm('east')).toBeUndefined();
  });

  it('counts on another replica within its next look', async () => {
    const { incarnation } = await second.store.head();
    expect(await other.sync?.confirm('east')).toMatchObject({ incarnation });
    expect(global.names('MeshService')).toHaveLength(2);
    clock.advance(POLL_INTERVAL);
    await gone();
    expect(await other.sync?.confirm('east')).toBeUndefined();
  });

  it('may be given twice, by two replicas at once', async () => {
    const said = await Promise.all([other.sync?.confirm('east'), global.sync?.confirm('east')]);
    expect(said[0]).toEqual(said[1]);
    await gone();
    clock.advance(POLL_INTERVAL);
    await second.put('MeshService', 'c', SPEC);
    await global.until(() => global.names('MeshService').join() === 'east/c');
  });

  it('counts for the next session when nobody had the stream, on whichever replica', async () => {
    await second.leave();
    await global.left('east');
    await global.cut();
    await other.sync?.confirm('east');
    expect(other.names('MeshService')).toHaveLength(2);
    await second.join(other);
    await other.until(() => other.names('MeshService').length === 0);
  });

  it('is tried again when the store was away, and what comes back meanwhile stays', async () => {
    store.refusesDeletions = true;
    await global.sync?.confirm('east');
    expect(global.names('MeshService')).toHaveLength(2);
    store.refusesDeletions = false;
    await second.put('MeshService', 'a', SPEC);
    await global.holds(
      first.id('MeshService', 'a'),
      ({ origin }) => origin.incarnation === second.index.point?.incarnation,
    );
    clock.advance(POLL_INTERVAL);
    await global.lacks(first.id('MeshService', 'b'));
    expect(global.names('MeshService')).toEqual(['east/a']);
  });

  it('does not count for a later incarnation', async () => {
    await global.sync?.confirm('east');
    await gone();
    await second.put('MeshService', 'c', SPEC);
    await global.until(() => global.names('MeshService').join() === 'east/c');
    await second.leave();
    await global.left('east');
    const third = new TestZone('east', {}, new MemoryDisk());
    await third.join(global);
    expect((await global.report('east', 'MeshService', 'up')).held).toBe(1);
    clock.advance(POLL_INTERVAL);
    await third.put('MeshService', 'd', SPEC);
    await global.until(() => global.names('MeshService').join() === 'east/c,east/d');
    await third.close();
  });

  it('is asked of no zone that never was', async () => {
    await expect(global.sync?.confirm('nowhere')).rejects.toBeInstanceOf(NotFound);
  });
});
