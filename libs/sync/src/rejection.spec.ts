import { Rejections, type Rejection } from './rejection';

const unnamed: readonly Rejection[] = [{ wireKey: '', reason: 'bad' }];

describe('what stands rejected', () => {
  it('by a peer that does not say which is the one resource of its message, through answers about others', () => {
    const rejections = new Rejections();
    rejections.recordAnswer(['a.m'], unnamed);
    rejections.recordAnswer(['b.m'], []);
    expect(rejections.current()).toEqual([{ wireKey: 'a.m', reason: 'bad' }]);
    rejections.recordAnswer(['a.m'], []);
    expect([rejections.current(), rejections.total]).toEqual([[], 1]);
  });

  it('of several, by a peer that does not say which, stands until all of them were answered again', () => {
    const rejections = new Rejections();
    rejections.recordAnswer(['a.m', 'b.m'], unnamed);
    rejections.recordAnswer(['c.m'], []);
    rejections.recordAnswer(['a.m'], []);
    expect(rejections.current()).toEqual(unnamed);
    rejections.recordAnswer(['b.m'], []);
    expect(rejections.current()).toEqual([]);
  });

  it('by name is only what was named', () => {
    const rejections = new Rejections();
    rejections.recordAnswer(['a.m', 'b.m'], [{ wireKey: 'b.m', reason: 'bad' }]);
    rejections.recordAnswer(['a.m'], []);
    expect(rejections.current()).toEqual([{ wireKey: 'b.m', reason: 'bad' }]);
  });
});
