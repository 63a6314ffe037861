import { countedOrder, type OrderClaim } from './counted-order';

const NOW = 1_000_000_000;
const SECOND = 1_000_000;

/** A claim of what arrives now over an open stream; others hold nothing. */
function claim(more: Partial<OrderClaim>): OrderClaim {
  return { claimed: NOW, held: undefined, moment: undefined, others: 0, newest: 0, now: NOW, ...more };
}

describe('the creation order that counts', () => {
  it.each<[string, Partial<OrderClaim>, number]>([
    ['unknown stays unknown', { claimed: 0 }, 0],
    ['unknown stays unknown after a cut', { claimed: 0, moment: 5 }, 0],
    ['made during a cut: the claim', { claimed: 70, moment: 50 }, 70],
    ['claims to be from before the cut: the moment', { claimed: 1, moment: 50 }, 50],
    ['never whole and no Zone known: the claim', { claimed: 1, moment: 0 }, 1],
    ['on its way for a moment: the claim', { claimed: NOW - SECOND, others: NOW - 2 * SECOND }, NOW - SECOND],
    ['on its way for too long: now', { claimed: NOW - 6 * SECOND }, NOW + 1],
    ['a forged age: now', { claimed: 1, others: NOW - SECOND, newest: NOW - SECOND }, NOW + 1],
    ['older than what another has: now', { claimed: NOW - 3, others: NOW - 2, newest: NOW - 2 }, NOW + 1],
    ['as old as what another has: now', { claimed: NOW - 2, others: NOW - 2, newest: NOW - 2 }, NOW + 1],
    ['older than the last of its own zone: the claim', { claimed: NOW - 3, others: 9, newest: NOW - 2 }, NOW - 3],
    ['another is ahead of our clock: after it', { claimed: 1, others: NOW + 9, newest: NOW + 9 }, NOW + 10],
    ['a clock that is ahead: the claim', { claimed: NOW + 7, others: NOW, newest: NOW }, NOW + 7],
    ['held: never older', { claimed: 1, held: 40 }, 40],
    ['held: younger if it says so', { claimed: 60, held: 40 }, 60],
    ['held: the moment is past', { claimed: 1, held: 40, moment: 50 }, 40],
    ['held as unknown: stays last', { claimed: 60, held: 0 }, 0],
  ])('%s', (_, more, want) => expect(countedOrder(claim(more))).toBe(want));
});
