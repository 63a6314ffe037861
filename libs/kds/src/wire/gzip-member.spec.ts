import { gunzipSync, gzipSync } from 'node:zlib';
import { storedMember } from './gzip-member';

describe('a gzip member of few bytes', () => {
  it.each([0, 1, 300, 0xffff, 0x10000])('of %d bytes is read by zlib', (length) => {
    const bytes = Buffer.from(Array.from({ length }, (_, n) => (n * 31) % 256));
    expect(gunzipSync(storedMember(bytes)).equals(bytes)).toBe(true);
  });

  it('follows another member', () => {
    const both = Buffer.concat([gzipSync(Buffer.from('resources ')), storedMember(Buffer.from('and the rest'))]);
    expect(gunzipSync(both).toString()).toBe('resources and the rest');
  });
});
