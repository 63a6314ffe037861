import { randomBytes } from 'node:crypto';
import { SealingKeys, type SealedText } from './sealing-keys';

const key = (): string => randomBytes(32).toString('base64');
const parsed = (text: string): SealingKeys => {
  const found = SealingKeys.parse(text);
  if (!found.ok) throw new Error(found.reason);
  return found.keys;
};

describe('sealing keys', () => {
  const [one, two] = [`one:${key()}`, `two:${key()}`];
  const keys = parsed(one);
  const sealed = keys.seal('the secret', 'here');

  it('open what they sealed, also when another key seals by now', () => {
    expect(keys.open(sealed, 'here')).toEqual({ ok: true, text: 'the secret' });
    const rotated = parsed(`${two}, ${one}`);
    expect(rotated.current).toBe('two');
    expect(rotated.open(sealed, 'here')).toEqual({ ok: true, text: 'the secret' });
    expect(rotated.seal('x', 'here').keyId).toBe('two');
    expect(JSON.stringify(sealed)).not.toContain(Buffer.from('the secret').toString('base64').slice(0, 8));
    expect(keys.seal('the secret', 'here').sealed).not.toBe(sealed.sealed);
  });

  const flipped = (text: string): string => {
    const bytes = Buffer.from(text, 'base64');
    bytes.writeUInt8(bytes.readUInt8(0) ^ 1, 0);
    return bytes.toString('base64');
  };
  it.each<[string, SealingKeys, SealedText, RegExp, purpose?: string]>([
    ['changed content', keys, { ...sealed, sealed: flipped(sealed.sealed) }, /does not open with key "one"/],
    ['a changed nonce', keys, { ...sealed, nonce: flipped(sealed.nonce) }, /does not open with key "one"/],
    ['another purpose', keys, sealed, /does not open with key "one"/, 'there'],
    ['another key of the id', parsed(`one:${key()}`), sealed, /does not open with key "one"/],
    ['the id of no key', parsed(two), sealed, /sealed with key "one", which is not in CAUSEWAY_SECRETS_KEY/],
    ['the id of another key', parsed(`${two},${one}`), { ...sealed, keyId: 'two' }, /does not open/],
    ['a cut tag', keys, { ...sealed, sealed: sealed.sealed.slice(0, 8) }, /is incomplete/],
    ['a long nonce', keys, { ...sealed, nonce: key() }, /is incomplete/],
  ])('refuse %s', (...[, opener, text, reason, purpose = 'here']) => {
    const opened = opener.open(text, purpose);
    expect(opened.ok ? 'opened' : opened.reason).toMatch(reason);
  });

  const twice = `${one},${one}`;
  it.each([
    ['nothing', '', /^key 1 must be id:key/],
    ['no id', key(), /^key 1 must be id:key/],
    ['a short key', `a:${randomBytes(16).toString('base64')}`, /^key 1 must be id:key/],
    ['a second key that is none', `${one},b:`, /^key 2 must be id:key/],
    ['an id twice', twice, /^key 2 has the id "one" of another one/],
    ['too many', Array.from({ length: 17 }, (_, i) => `k${i}:${key()}`).join(), /^must have at most 16 keys/],
  ])('are not read from %s', (_, text, reason) => {
    const found = SealingKeys.parse(text);
    expect(found.ok ? 'read' : found.reason).toMatch(reason);
    expect(found.ok ? '' : found.reason).not.toContain(one.slice(4, 20));
  });

  it('refuse to seal what is too long', () => expect(() => keys.seal('x'.repeat(65_537), 'here')).toThrow(RangeError));
});
