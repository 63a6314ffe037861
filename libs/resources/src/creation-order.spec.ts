import { compareOrders, laterOrder } from './creation-order';

describe('creation orders', () => {
  it('is the later of two, and the unknown one is the latest', () => {
    expect([laterOrder(1, 2), laterOrder(2, 1), laterOrder(0, 2), laterOrder(2, 0)]).toEqual([2, 2, 0, 0]);
    expect([3, 0, 1, 2].sort(compareOrders)).toEqual([1, 2, 3, 0]);
  });
});
