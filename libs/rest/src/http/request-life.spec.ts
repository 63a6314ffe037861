import { EventEmitter } from 'node:events';
import { FakeClock } from '@causeway/runtime';
import { RequestLives } from './request-life';

describe('RequestLives', () => {
  const setUp = (): { lives: RequestLives; clock: FakeClock; request: object; answer: EventEmitter } => {
    const [clock, request, answer] = [new FakeClock(), {}, new EventEmitter()];
    const lives = new RequestLives(clock, 1_000);
    lives.begin(request, answer);
    return { lives, clock, request, answer };
  };

  it('end when the client goes, and leave no timer behind', () => {
    const { lives, clock, request, answer } = setUp();
    const signal = lives.signalOf(request);
    expect([signal.aborted, lives.signalOf(request)]).toEqual([false, signal]);
    answer.emit('close');
    expect([signal.aborted, clock.pending]).toEqual([true, 0]);
  });

  it('end at the deadline, which says so', () => {
    const { lives, clock, request } = setUp();
    const signal = lives.signalOf(request);
    clock.advance(1_000);
    expect(signal.reason).toMatchObject({
      status: 503,
      message: 'This request took longer than 1 s and was given up.',
    });
  });

  it('end with the server, also those that begin then', () => {
    const { lives, request } = setUp();
    const signal = lives.signalOf(request);
    lives.close();
    expect([signal.aborted, lives.signalOf({}).aborted]).toEqual([true, true]);
  });
});
