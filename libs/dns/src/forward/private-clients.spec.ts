import { isPrivate } from './forwarder';

test.each([
  ['127.0.0.1', true],
  ['127.255.0.1', true],
  ['10.1.2.3', true],
  ['172.16.0.1', true],
  ['172.32.0.1', false],
  ['192.168.255.255', true],
  ['169.254.1.1', true],
  ['8.8.8.8', false],
  ['100.64.0.1', false],
  ['::1', true],
  ['fd12::1', true],
  ['fe80::1%eth0', true],
  ['2001:db8::1', false],
  ['::ffff:10.0.0.1', true],
  ['::ffff:8.8.8.8', false],
])('%s is private: %s', (address, expected) => {
  expect(isPrivate(address)).toBe(expected);
});
