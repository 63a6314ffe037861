import { ConnectRounds } from './connect-rounds';

const LIMITS = { deadline: { base: 1_000, cap: 3_000 }, pause: { base: 100, cap: 300 } };

describe('the rounds of a client that connects', () => {
  it('try each address once before a pause; pauses and patience grow up to their bounds', () => {
    const rounds = new ConnectRounds(LIMITS, () => 0.5);
    const addresses = ['a', 'b'];
    const tries = Array.from({ length: 8 }, () => ({
      at: rounds.next(addresses),
      deadline: rounds.deadline,
      next: rounds.upcoming(addresses),
      pause: rounds.failed(addresses),
    }));
    expect(tries).toEqual([
      { at: 'a', deadline: 750, next: 'b', pause: 0 },
      { at: 'b', deadline: 750, next: 'a', pause: 75 },
      { at: 'a', deadline: 1_500, next: 'b', pause: 0 },
      { at: 'b', deadline: 1_500, next: 'a', pause: 150 },
      { at: 'a', deadline: 2_250, next: 'b', pause: 0 },
      { at: 'b', deadline: 2_250, next: 'a', pause: 225 },
      { at: 'a', deadline: 2_250, next: 'b', pause: 0 },
      { at: 'b', deadline: 2_250, next: 'a', pause: 225 },
    ]);
    rounds.answered();
    expect(rounds.deadline).toBe(750);
    rounds.next(addresses);
    rounds.next(addresses);
    expect(rounds.failed(addresses)).toBe(75);
  });

  it.each([
    ['the least', 0, 500, 50],
    ['the most', 0.999_999, 1_000, 100],
  ])('vary by half of each: %s', (_, random, deadline, pause) => {
    const rounds = new ConnectRounds(LIMITS, () => random);
    expect(rounds.deadline).toBeCloseTo(deadline, 2);
    rounds.next(['a']);
    expect(rounds.failed(['a'])).toBeCloseTo(pause, 2);
  });

  it('begin with the first address where the addresses are others, and name none where there is none', () => {
    const rounds = new ConnectRounds(LIMITS);
    expect([rounds.next([]), rounds.next(['a', 'b'])]).toEqual([undefined, 'b']);
    rounds.restart();
    expect(rounds.next(['c', 'd'])).toBe('c');
  });
});
