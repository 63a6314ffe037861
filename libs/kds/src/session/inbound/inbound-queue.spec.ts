import { InboundQueue, type MessageConsumer, InboundBudget } from './inbound-queue';
import type { ListenedStream, StreamListener } from '../peer-stream';

/** A stream of a test that records whether it is read. */
class TestStream implements ListenedStream {
  isRead = true;
  listener: StreamListener | undefined;

  listen(listener: StreamListener): void {
    this.listener = listener;
  }

  pause(): void {
    this.isRead = false;
  }

  resume(): void {
    this.isRead = true;
  }

  write(): boolean {
    return true;
  }

  end(_reason: string, detail: string): void {
    this.listener?.ended(detail);
  }

  send(bytes: number): void {
    this.listener?.message(Buffer.alloc(bytes));
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const pace = { message: () => undefined, yieldTurn: turn };

/** A consumer that takes a message when the test releases it. */
class TestConsumer implements MessageConsumer {
  readonly taken: number[] = [];
  readonly ends: string[] = [];
  private readonly waiting: (() => void)[] = [];

  message(bytes: Buffer): Promise<void> {
    this.taken.push(bytes.length);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  drain(): void {
    this.ends.push('drain');
  }

  ended(reason: string): void {
    this.ends.push(reason);
  }

  async done(): Promise<void> {
    this.waiting.shift()?.();
    await turn();
  }
}

describe('what a peer has sent and nobody has taken', () => {
  const bounds = { stream: 10_000, process: 25_000 };

  it('is handed over in order, one message after the other, also what came before there was a consumer', async () => {
    const [stream, consumer] = [new TestStream(), new TestConsumer()];
    const queue = new InboundQueue(stream, new InboundBudget(bounds), pace);
    for (const size of [1, 2, 3]) stream.send(size);
    queue.deliver(consumer);
    expect(consumer.taken).toEqual([1]);
    await consumer.done();
    expect(consumer.taken).toEqual([1, 2]);
    await consumer.done();
    await consumer.done();
    expect(consumer.taken).toEqual([1, 2, 3]);
    expect(queue.queued).toBe(0);
  });

  it('stops the stream above its bound, and begins to read again below half of it', async () => {
    const [stream, consumer] = [new TestStream(), new TestConsumer()];
    const queue = new InboundQueue(stream, new InboundBudget(bounds), pace);
    queue.deliver(consumer);
    for (let i = 0; i < 3; i++) stream.send(4_000);
    expect([stream.isRead, queue.isFull]).toEqual([false, true]);
    await consumer.done();
    expect(stream.isRead).toBe(false);
    await consumer.done();
    expect([stream.isRead, queue.isFull]).toEqual([true, false]);
  });

  it('counts empty messages as well', () => {
    const stream = new TestStream();
    new InboundQueue(stream, new InboundBudget(bounds), pace);
    for (let i = 0; i < 100; i++) stream.send(0);
    expect(stream.isRead).toBe(false);
  });

  it('stops all streams of which something waits above the bound of the process', async () => {
    const budget = new InboundBudget(bounds);
    const streams = Array.from({ length: 4 }, () => new TestStream());
    const consumers = streams.map((stream) => {
      const consumer = new TestConsumer();
      new InboundQueue(stream, budget, pace).deliver(consumer);
      return consumer;
    });
    for (const stream of streams) stream.send(8_000);
    expect(streams.map(({ isRead }) => isRead)).toEqual([true, true, true, false]);
    expect(budget.isSpent).toBe(true);
    for (const stream of streams) stream.send(100);
    expect(streams.some(({ isRead }) => isRead)).toBe(false);
    for (const consumer of consumers) await consumer.done();
    expect(streams.map(({ isRead }) => isRead)).toEqual([true, true, true, true]);
    for (const consumer of consumers) await consumer.done();
    expect(budget.bytes).toBe(0);
  });

  it('is given up when the stream ends', () => {
    const [stream, budget, consumer] = [new TestStream(), new InboundBudget(bounds), new TestConsumer()];
    new InboundQueue(stream, budget, pace).deliver(consumer);
    for (let i = 0; i < 5; i++) stream.send(4_000);
    stream.end('', 'over');
    stream.send(10);
    expect([budget.bytes, consumer.ends, consumer.taken]).toEqual([0, ['over'], [4_000]]);
  });

  it('waits as long as the peer is above its rates', async () => {
    const [stream, consumer] = [new TestStream(), new TestConsumer()];
    let go: () => void = () => undefined;
    const slow = { message: () => new Promise<void>((resolve) => (go = resolve)), yieldTurn: turn };
    new InboundQueue(stream, new InboundBudget(bounds), slow).deliver(consumer);
    stream.send(1);
    await turn();
    expect(consumer.taken).toEqual([]);
    go();
    await turn();
    expect(consumer.taken).toEqual([1]);
  });
});
