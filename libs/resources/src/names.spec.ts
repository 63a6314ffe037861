import { checkName, isDnsLabel } from './identity';
import { FieldPath } from './violation';

describe('names', () => {
  it.each(['a', '0', 'redis', 'redis.demo-app', '1meshservice.backend', 'a-b.c-d.e', 'a'.repeat(253), 'x--y'])(
    '%s is a name',
    (name) => {
      expect(checkName(name, FieldPath.at('name'))).toEqual([]);
    },
  );

  it.each<[string, string]>([
    ['', 'must not be empty'],
    ['a'.repeat(254), 'must not be longer than 253 characters, has 254'],
    ['Redis', 'must be an RFC 1123 subdomain'],
    ['a_b', 'must be an RFC 1123 subdomain'],
    ['-a', 'must be an RFC 1123 subdomain'],
    ['a-', 'must be an RFC 1123 subdomain'],
    ['a.-b', 'must be an RFC 1123 subdomain'],
    ['a..b', 'must be an RFC 1123 subdomain'],
    ['.a', 'must be an RFC 1123 subdomain'],
    ['a.', 'must be an RFC 1123 subdomain'],
    ['a/b', 'must be an RFC 1123 subdomain'],
    ['a b', 'must be an RFC 1123 subdomain'],
    ['a\n', 'must be an RFC 1123 subdomain'],
    ['über', 'must be an RFC 1123 subdomain'],
  ])('"%s" is none', (name, reason) => {
    const [violation] = checkName(name, FieldPath.at('name'));
    expect(violation?.field).toBe('name');
    expect(violation?.reason).toContain(reason);
  });

  it.each<[string, boolean]>([
    ['redis', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['1a', false],
    ['a.b', false],
    ['a-', false],
    ['', false],
  ])('"%s" as one label of DNS: %s', (name, want) => {
    expect(isDnsLabel(name)).toBe(want);
  });
});
