import { EventEmitter } from 'node:events';
import { FakeClock } from '@causeway/runtime/testing';
import { RequestSignals } from './request-signals';

describe('RequestLives', () => {
  const setUp = (): { requestSignals: RequestSignals; clock: FakeClock; request: object; answer: EventEmitter } => {
    const [clock, request, answer] = [new FakeClock(), {}, new EventEmitter()];
    const requestSignals = new RequestSignals(clock, 1_000);
    requestSignals.begin(request, answer);
    return { requestSignals, clock, request, answer };
  };

  it('end when the client goes, and leave no timer behind', () => {
    const { requestSignals, clock, request, answer } = setUp();
    const signal = requestSignals.getSignal(request);
    expect([signal.aborted, requestSignals.getSignal(request)]).toEqual([false, signal]);
    answer.emit('close');
    expect([signal.aborted, clock.pending]).toEqual([true, 0]);
  });

  it('end at the deadline, which says so', () => {
    const { requestSignals, clock, request } = setUp();
    const signal = requestSignals.getSignal(request);
    clock.advance(1_000);
    expect(signal.reason).toMatchObject({
      status: 503,
      message: 'This request took longer than 1 s and was given up.',
    });
  });

  it('end with the server, also those that begin then', () => {
    const { requestSignals, request } = setUp();
    const signal = requestSignals.getSignal(request);
    requestSignals.close();
    expect([signal.aborted, requestSignals.getSignal({}).aborted]).toEqual([true, true]);
  });
});
