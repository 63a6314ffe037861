import { isDomainName } from './rules';

describe('isDomainName', () => {
  it.each(['localhost', 'example.com', 'a.b-c.D', '_srv.example.com', '1a'])('%s is a host name', (text) => {
    expect(isDomainName(text)).toBe(true);
  });

  it.each(['', '.', 'a..b', 'a.', '-a', 'a-', 'a b', '..>_<..', 'é', 'a'.repeat(64), `${'a.'.repeat(127)}aa`])(
    '"%s" is not a host name',
    (text) => {
      expect(isDomainName(text)).toBe(false);
    },
  );
});
