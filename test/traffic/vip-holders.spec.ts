import { VipHolders } from './vip-holders';

describe('a call is answered by another than the holder', () => {
  const holders = new VipHolders();
  holders.took('v', 'a', 10);
  holders.freeing('v', 20);
  holders.took('v', 'b', 40);

  it.each([
    ['by the holder', { from: 11, to: 12, by: 'a' }, false],
    ['by another', { from: 11, to: 12, by: 'b' }, true],
    ['by the holder of before, while it goes', { from: 19, to: 21, by: 'a' }, false],
    ['by the holder of before, when nobody holds it', { from: 25, to: 26, by: 'a' }, false],
    ['by the holder of before, as the next one comes', { from: 39, to: 41, by: 'a' }, false],
    ['by the holder of before, when there is the next one', { from: 40, to: 90, by: 'a' }, true],
    ['at an address that was never held', { vip: 'w', from: 1, to: 2, by: 'a' }, false],
  ])('%s: %j %s', (_, call, wrong) => expect(holders.isWrong({ vip: 'v', ...call })).toBe(wrong));

  it('knows how often an address changed hands', () => expect(holders.reused).toBe(1));
});
