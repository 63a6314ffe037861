import { decodeCursor, encodeCursor } from './page';

describe('cursors', () => {
  it('decode to the sort key that they were made of', () => {
    const key = { mesh: 'default', name: 'bücher', zone: '', namespace: 'a"b' };
    expect(decodeCursor(encodeCursor(key))).toEqual(key);
    expect(encodeCursor(key)).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it.each([
    '',
    'x',
    'e30',
    Buffer.from('["a","b","c"]').toString('base64url'),
    Buffer.from('[1,2,3,4]').toString('base64url'),
  ])('"%s" is none', (text) => expect(decodeCursor(text)).toBeUndefined());
});
