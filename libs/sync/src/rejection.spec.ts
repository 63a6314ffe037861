import { Rejections, type Rejection } from './rejection';

const unnamed: readonly Rejection[] = [{ wireKey: '', reason: 'bad' }];

describe('what stands rejected', () => {
  it('by a peer that does not say which is the one resource of its message, through answers about others', () => {
    const rejections = new Rejections();
    rejections.answered(['a.m'], unnamed);
    rejections.answered(['b.m'], []);
    expect(rejections.standing()).toEqual([{ wireKey: 'a.m', reason: 'bad' }]);
    rejections.answered(['a.m'], []);
    expect([rejections.standing(), rejections.total]).toEqual([[], 1]);
  });

  it('of several, by a peer that does not say which, stands until all of them were answered again', () => {
    const rejections = new Rejections();
    rejections.answered(['a.m', 'b.m'], unnamed);
    rejections.answered(['c.m'], []);
    rejections.answered(['a.m'], []);
    expect(rejections.standing()).toEqual(unnamed);
    rejections.answered(['b.m'], []);
    expect(rejections.standing()).toEqual([]);
  });

  it('by name is only what was named', () => {
    const rejections = new Rejections();
    rejections.answered(['a.m', 'b.m'], [{ wireKey: 'b.m', reason: 'bad' }]);
    rejections.answered(['a.m'], []);
    expect(rejections.standing()).toEqual([{ wireKey: 'b.m', reason: 'bad' }]);
  });
});
