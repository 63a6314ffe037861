import { dnsAddresses } from './dns-options';

it.each([
  ['where REST is served', [], '0.0.0.0', ['0.0.0.0']],
  ['on loopback where REST is served by a name', [], 'localhost', ['127.0.0.1']],
  ['at the addresses that are given', ['10.0.0.5', '::1'], '0.0.0.0', ['10.0.0.5', '::1']],
])('DNS is answered %s', (_where, given, rest, addresses) => {
  expect(dnsAddresses({ CAUSEWAY_DNS_BIND_ADDRESS: given, CAUSEWAY_BIND_ADDRESS: rest })).toEqual(addresses);
});
