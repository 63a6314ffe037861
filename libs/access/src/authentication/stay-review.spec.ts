import { Forbidden } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { StayReview } from './stay-review';

interface Answer {
  readonly name: string;
  readonly until?: number;
}

describe('whether somebody may stay', () => {
  let clock: FakeClock;
  let asked: { readonly answer: (answer: Answer) => void; readonly refuse: (error: Error) => void }[];
  let received: string[];
  let review: StayReview<Answer>;
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  beforeEach(() => {
    clock = new FakeClock(1_000);
    [asked, received] = [[], []];
    review = new StayReview<Answer>({
      ask: () => new Promise((answer, refuse) => void asked.push({ answer, refuse })),
      clock,
      expired: 'it has expired',
      answered: ({ name }) => received.push(name),
      refused: (error) => received.push(error instanceof Error ? `refused: ${error.message}` : ''),
      dropped: ({ name }) => received.push(`dropped ${name}`),
    });
    review.review();
  });
  const answer = async (given: Answer): Promise<void> => {
    asked.shift()?.answer(given);
    await settled();
  };

  it('is asked one question at a time; what changes meanwhile is asked about once more', async () => {
    review.review();
    review.review();
    expect(asked).toHaveLength(1);
    await answer({ name: 'first', until: 9_000 });
    expect([received, asked.length, review.endsAt]).toEqual([['first'], 1, Infinity]);
    await answer({ name: 'second', until: 5_000 });
    expect([received, asked.length, review.endsAt]).toEqual([['first', 'second'], 0, 5_000]);
  });

  it('is not refused by an answer that a change has overtaken', async () => {
    review.review();
    asked.shift()?.refuse(new Forbidden('not yet'));
    await settled();
    await answer({ name: 'allowed' });
    expect([received, review.endsAt]).toEqual([['allowed'], Infinity]);
  });

  it('is asked again when its time is over, and refused by an answer that is over already', async () => {
    await answer({ name: 'first', until: 2_000 });
    review.checkTime();
    expect(asked).toHaveLength(0);
    clock.advance(1_000);
    review.checkTime();
    review.checkTime();
    expect(asked).toHaveLength(1);
    await answer({ name: 'late', until: 2_000 });
    review.review();
    expect([received, asked.length]).toEqual([['first', 'dropped late', 'refused: it has expired'], 0]);
  });

  it('tells nobody anything after its end, and gives back what comes then', async () => {
    review.close();
    await answer({ name: 'late' });
    review.review();
    expect([received, asked.length]).toEqual([['dropped late'], 0]);
  });
});
