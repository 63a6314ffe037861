import { systemClock } from '@causeway/runtime';
import { until } from '../../../../test/support/until';
import { SendBudget } from './send-budget';

/** Streams that each have this many responses of 100 bytes to send, and send one whenever they may. */
function streamsOn(budget: SendBudget<string>, count: number, responses: number) {
  const sent: number[] = [];
  let pumps = 0;
  const streams = Array.from({ length: count }, (_, i) => {
    let left = responses;
    const stream = {
      proxyId: `web-${i}`,
      view: 'default',
      moved: () => undefined,
      pump: (): boolean => {
        pumps += 1;
        if (left === 0) return false;
        if (budget.isSpent()) {
          budget.wait(stream);
          return false;
        }
        left -= 1;
        sent.push(i);
        budget.spend(100);
        if (left > 0) budget.wait(stream);
        return true;
      },
    };
    return stream;
  });
  return { streams, sent, pumps: () => pumps };
}

describe('SendBudget', () => {
  it('an ack costs what it frees, however many streams wait', async () => {
    const budget = new SendBudget<string>(1_000, systemClock);
    const { streams, sent, pumps } = streamsOn(budget, 400, 1);
    for (const stream of streams) stream.pump();
    expect(sent).toHaveLength(10);
    for (let acked = 0; acked < 400; acked++) {
      await until('a response', () => sent.length > acked);
      budget.refund(100);
    }
    expect(sent).toEqual(streams.map((_, i) => i));
    expect(budget.unackedBytes).toBe(0);
    expect(pumps()).toBeLessThan(2 * 400 + 10);
  });

  it('one large ack serves all that fit, in turn', async () => {
    const budget = new SendBudget<string>(300, systemClock);
    const { streams, sent } = streamsOn(budget, 3, 2);
    budget.spend(300);
    for (const stream of streams) stream.pump();
    expect(sent).toEqual([]);
    budget.refund(300);
    await until('three responses', () => sent.length === 3);
    budget.refund(300);
    await until('all', () => sent.length === 6);
    expect(sent).toEqual([0, 1, 2, 0, 1, 2]);
  });

  it('a stream that has ended is not served', async () => {
    const budget = new SendBudget<string>(100, systemClock);
    const { streams, sent } = streamsOn(budget, 2, 1);
    budget.spend(100);
    for (const stream of streams) stream.pump();
    const [gone] = streams;
    if (gone) budget.leave(gone);
    budget.refund(100);
    await until('the other', () => sent.length > 0);
    expect(sent).toEqual([1]);
  });
});
