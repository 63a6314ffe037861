import { Unavailable } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { ResourceIndex } from '@causeway/store';
import { ReadYourWrites } from './read-your-writes';

const at = (revision: number): { incarnation: string; revision: number } => ({ incarnation: 'i', revision });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp(head: number): { index: ResourceIndex; clock: FakeClock; readYourWrites: ReadYourWrites } {
  const index = new ResourceIndex();
  const clock = new FakeClock();
  const readYourWrites = new ReadYourWrites(
    index,
    { head: () => Promise.resolve(at(head)) },
    { clock, timeout: 1_000 },
  );
  readYourWrites.follow();
  index.load({ point: at(5), resources: [], tombstones: [] });
  return { index, clock, readYourWrites };
}

describe('Freshness', () => {
  it('waits for the writes of this process, unasked', async () => {
    const { index, readYourWrites } = setUp(7);
    readYourWrites.recordWrite(7);
    let ready = false;
    const waiting = readYourWrites.wait().then(() => (ready = true));
    await turn();
    expect(ready).toBe(false);
    index.apply({ revision: 7, changes: [] });
    await waiting;
  });

  it('gives up after the longest wait', async () => {
    const { clock, readYourWrites } = setUp(9);
    const waiting = readYourWrites.wait(9);
    await turn();
    clock.advance(1_000);
    await expect(waiting).rejects.toThrow(new Unavailable('This replica has seen revision 5, not yet 9; try again.'));
    expect(clock.pending).toBe(0);
  });

  it('refuses a revision that the store has not reached', async () => {
    await expect(setUp(5).readYourWrites.wait(6)).rejects.toThrow('There is no revision 6 yet; the newest is 5.');
  });

  it('forgets what was written in another incarnation of the store', async () => {
    const { index, readYourWrites } = setUp(5);
    readYourWrites.recordWrite(100);
    index.load({ point: { incarnation: 'j', revision: 1 }, resources: [], tombstones: [] });
    await readYourWrites.wait();
  });

  it('has nothing to show before the first load', async () => {
    const readYourWrites = new ReadYourWrites(
      new ResourceIndex(),
      { head: () => Promise.resolve(at(1)) },
      { clock: new FakeClock(), timeout: 1 },
    );
    await expect(readYourWrites.wait()).rejects.toThrow(Unavailable);
  });
});
