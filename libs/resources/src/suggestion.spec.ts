import { nearest } from './suggestion';

const fields = ['selector', 'template', 'ports', 'appProtocol', 'targetPort'];

describe('nearest', () => {
  it.each<[string, string | undefined]>([
    ['selektor', 'selector'],
    ['Selector', 'selector'],
    ['port', 'ports'],
    ['tempalte', 'template'],
    ['protocol', 'appProtocol'],
    ['xyz', undefined],
    ['', undefined],
    ['somethingelse', undefined],
  ])('%s → %s', (word, want) => {
    expect(nearest(word, fields)).toBe(want);
  });

  it('is quick for words of any length', () => {
    expect(nearest('x'.repeat(1_000_000), fields)).toBeUndefined();
  });
});
