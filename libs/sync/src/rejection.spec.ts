import { Rejections, type Rejection } from './rejection';

const unnamed: readonly Rejection[] = [{ wireKey: '', reason: 'bad' }];

describe('Rejections', () => {
  it('assigns a rejection without a name to the only resource of its message, and keeps it while others are acknowledged', () => {
    const rejections = new Rejections();
    rejections.recordAnswer(['a.m'], unnamed);
    rejections.recordAnswer(['b.m'], []);
    expect(rejections.current()).toEqual([{ wireKey: 'a.m', reason: 'bad' }]);
    rejections.recordAnswer(['a.m'], []);
    expect([rejections.current(), rejections.total]).toEqual([[], 1]);
  });

  it('keeps a rejection without a name until all resources of its message were acknowledged again', () => {
    const rejections = new Rejections();
    rejections.recordAnswer(['a.m', 'b.m'], unnamed);
    rejections.recordAnswer(['c.m'], []);
    rejections.recordAnswer(['a.m'], []);
    expect(rejections.current()).toEqual(unnamed);
    rejections.recordAnswer(['b.m'], []);
    expect(rejections.current()).toEqual([]);
  });

  it('keeps only the resource that a rejection names', () => {
    const rejections = new Rejections();
    rejections.recordAnswer(['a.m', 'b.m'], [{ wireKey: 'b.m', reason: 'bad' }]);
    rejections.recordAnswer(['a.m'], []);
    expect(rejections.current()).toEqual([{ wireKey: 'b.m', reason: 'bad' }]);
  });
});
