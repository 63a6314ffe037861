import { changedLines } from './changed-lines';

describe('changedLines', () => {
  it.each([
    ['equal texts', 'a\nb\n', 'a\nb\n', []],
    ['a line that came', 'a\nc\n', 'a\nb\nc\n', ['+ b']],
    ['a line that went', 'a\nb\nc\n', 'a\nc\n', ['- b']],
    ['a line that changed', 'a\nport: 1\nc\n', 'a\nport: 2\nc\n', ['- port: 1', '+ port: 2']],
    ['an end that differs', 'a\n', 'a\nb\nc\n', ['+ b', '+ c']],
  ])('%s', (_, before, after, want) => {
    expect(changedLines(before, after)).toEqual(want);
  });
});
