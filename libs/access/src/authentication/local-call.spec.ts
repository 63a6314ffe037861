import { isLocalCall, type CallOrigin } from './local-call';

type Headers = Record<string, string | string[]>;

/** A call with a Host of its own where the headers have one; several are joined, as the interfaces do. */
const call = ({ host = 'localhost:5681', ...headers }: Headers, address = '127.0.0.1'): CallOrigin => ({
  ...{ address, host: [host].flat().join(', '), localPort: 5681, headers },
});

describe('a local call', () => {
  it.each<[string, Headers, ...peer: string[]]>([
    ['by name', {}],
    ['without a port', { host: 'localhost' }],
    ['by address', { host: '127.0.0.1:5681' }],
    ['by another loopback address', { host: '127.1.2.3:5681' }, '127.0.0.2'],
    ['by IPv6', { host: '[::1]:5681' }, '::1'],
    ['over a socket of both families', {}, '::ffff:127.0.0.1'],
    ['of its own page', { origin: 'http://localhost:5681', 'sec-fetch-site': 'same-origin' }],
    ['of its own page over TLS', { origin: 'https://localhost:5681' }],
    ['typed by the user', { 'sec-fetch-site': 'none' }],
  ])('is one %s', (_, headers, ...peer) => {
    expect(isLocalCall(call(headers, ...peer))).toBe(true);
  });

  it.each<[string, Headers, ...peer: string[]]>([
    ['from another machine', {}, '10.0.0.1'],
    ['from another machine over a socket of both families', {}, '::ffff:10.0.0.1'],
    ['from an address that only looks like loopback', {}, '127.0.0.1.evil.example'],
    ['by a name that points here', { host: 'evil.example' }],
    ['by a name that points here, with this port', { host: 'evil.example:5681' }],
    ['by a name below localhost', { host: 'evil.localhost:5681' }],
    ['by a name that begins like loopback', { host: '127.0.0.1.evil.example' }],
    ['by the port of a proxy', { host: 'localhost:8080' }],
    ['with no Host', { host: '' }],
    ['with two Hosts', { host: ['localhost:5681', 'evil.example'] }],
    ['of a page elsewhere', { origin: 'https://evil.example' }],
    ['of a page of another port', { origin: 'http://localhost:3000' }],
    ['of a page without origin', { origin: 'null' }],
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another host of its site', { 'sec-fetch-site': 'same-site' }],
    ...[
      ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'client-ip'],
      ...['x-original-forwarded-for', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip', 'x-envoy-external-address'],
    ].map((name): [string, Record<string, string>] => [`with ${name}`, { [name]: '10.0.0.1' }]),
  ])('is none %s', (_, headers, ...peer) => {
    expect(isLocalCall(call(headers, ...peer))).toBe(false);
  });

  it('is none over no known connection, and has no port to compare where its server knows none', () => {
    expect(isLocalCall(call({}, ''))).toBe(false);
    expect(isLocalCall({ ...call({ host: 'localhost:8080' }), localPort: undefined })).toBe(true);
  });
});
