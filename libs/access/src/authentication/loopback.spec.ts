import { isLoopback } from './loopback';

describe('isLoopback', () => {
  it.each(['localhost', '127.0.0.1', '127.255.3.4', '::1', '::ffff:127.0.0.1', '::FFFF:127.1.2.3'])(
    '%s is',
    (address) => expect(isLoopback(address)).toBe(true),
  );

  it.each(['', '10.0.0.1', '::ffff:10.0.0.1', '0.0.0.0', '127.0.0.1.evil.example', 'evil.localhost', '127.1', '::2'])(
    '%s is not',
    (address) => expect(isLoopback(address)).toBe(false),
  );
});
