import type { ApplyRequest } from '@causeway/proto-gen';
import { Unavailable } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { ApplyBudget } from './apply-budget';

const part: ApplyRequest = {
  atomic: false,
  dryRun: false,
  mesh: '',
  etag: '',
  documents: [{ json: 'x'.repeat(1 << 20) }],
};
const forever = new AbortController().signal;

/** Yields messages of 1 MiB and calls `sent` after each; then the client sends nothing more and does not close its side. */
async function* stalled(messages: number, sent: () => void = () => undefined): AsyncGenerator<ApplyRequest> {
  for (let i = 0; i < messages; i++) yield part;
  sent();
  await new Promise<void>(() => undefined);
}

/** A client of which so many MiB are held. */
async function held(budget: ApplyBudget, messages: number): Promise<{ readonly end: Promise<number> }> {
  let end = Promise.resolve(0);
  await new Promise<void>((sent) => {
    end = budget.receive(stalled(messages, sent), forever, count);
  });
  return { end };
}

async function* closed(messages: number): AsyncGenerator<ApplyRequest> {
  for (let i = 0; i < messages; i++) yield await Promise.resolve(part);
}

const count = ({ documents }: { readonly documents: readonly string[] }): Promise<number> =>
  Promise.resolve(documents.length);

describe('ApplyBudget', () => {
  it('gives up clients that stop sending, so that others may send', async () => {
    const clock = new FakeClock();
    const budget = new ApplyBudget(clock);
    const stuck = await Promise.all([30, 30].map((messages) => held(budget, messages)));
    const ends = Promise.allSettled(stuck.map(({ end }) => end));
    await expect(budget.receive(closed(5), forever, count)).rejects.toThrow(/other calls send very many documents/);
    clock.advance(60_000);
    const late = { status: 'rejected', reason: expect.any(Unavailable) as unknown };
    expect(await ends).toEqual([late, late]);
    await expect(budget.receive(closed(5), forever, count)).resolves.toBe(5);
  });

  it('ends with its call', async () => {
    const call = new AbortController();
    const received = new ApplyBudget(new FakeClock()).receive(stalled(1), call.signal, count);
    call.abort(new Unavailable('the client is gone'));
    await expect(received).rejects.toThrow('the client is gone');
  });
});
