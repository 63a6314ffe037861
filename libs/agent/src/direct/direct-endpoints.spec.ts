import type { DecodedCluster } from '../builtin/decode/clusters';
import type { UpstreamEndpoint, EndpointLocality } from '../builtin/decode/endpoints';
import type { ClientTls } from '../builtin/decode/tls-settings';
import { selectDirectEndpoints, parseTrustedRanges } from './direct-endpoints';

const AT = { address: '241.0.0.1', port: 80 };
const TLS = {} as ClientTls;
const plan = (given: Partial<DecodedCluster> = {}): DecodedCluster => ({
  name: 'vip:241.0.0.1:80',
  endpoints: { name: 'e' },
  isResolved: false,
  connectTimeout: 1,
  maxConnections: 1,
  panicPercent: 0,
  isWeighted: false,
  ejection: undefined,
  closesOnFailure: false,
  http: undefined,
  transports: [
    { match: { tls: 'off' }, transport: 'plaintext' },
    { match: {}, transport: TLS },
  ],
  ...given,
});
const plain = (address: string, port = 8080, isHealthy = true): UpstreamEndpoint => ({
  address,
  port,
  isHealthy,
  match: { tls: 'off' },
});
const tls = (address: string): UpstreamEndpoint => ({ ...plain(address), match: {} });
const locality = (endpoints: readonly UpstreamEndpoint[], given: Partial<EndpointLocality> = {}): EndpointLocality => ({
  zone: 'west',
  priority: 0,
  weight: endpoints.length,
  endpoints,
  ...given,
});
const isTrusted = parseTrustedRanges(['10.0.0.0/8', 'fd00::/16']);
const place = (address: string, weight = 1, port = 8080) => ({ address, port, weight });

describe('directEndpoints', () => {
  it.each<[string, readonly EndpointLocality[], readonly object[], string | undefined]>([
    ['none', [], [], undefined],
    [
      'each once',
      [locality([plain('10.0.0.1'), plain('10.0.0.1'), plain('10.0.0.1', 81)])],
      [place('10.0.0.1'), place('10.0.0.1', 1, 81)],
      undefined,
    ],
    [
      'those that are not ready are left out',
      [locality([plain('10.0.0.1', 8080, false), plain('10.0.0.2')])],
      [place('10.0.0.2')],
      undefined,
    ],
    [
      'the next priority where nobody of the first is ready',
      [locality([plain('10.0.0.1', 8080, false)]), locality([plain('10.0.0.2')], { priority: 1 })],
      [place('10.0.0.2')],
      undefined,
    ],
    [
      'what needs an identity is left out and named; of a priority that is not used nothing is',
      [locality([tls('10.0.0.1'), plain('10.0.0.2')]), locality([tls('10.9.0.1')], { priority: 1, zone: 'east' })],
      [place('10.0.0.2')],
      '1 endpoint of zone west for callers with an identity only (mTLS)',
    ],
    [
      'all reasons, with their numbers',
      [
        locality([plain('10-0-0-1.example'), plain('192.0.2.1'), plain('192.0.2.2'), plain('fd00::1')]),
        locality([tls('10.9.0.1')], { priority: 1, zone: 'east' }),
      ],
      [],
      '1 endpoint with a host name; 2 endpoints outside trustedNetworks; 1 endpoint of the other IP family; 1 endpoint of zone east for callers with an identity only (mTLS)',
    ],
  ])('%s', (_, localities, endpoints, unsupported) => {
    expect(selectDirectEndpoints(AT, plan(), localities, isTrusted)).toEqual({ endpoints, unsupported });
  });

  it('shares by zones where the cluster does, each zone by its instances', () => {
    const localities = [
      locality([plain('10.0.0.1'), plain('10.0.0.2', 8080, false)], { weight: 2 }),
      locality([plain('10.1.0.1'), plain('10.1.0.2')], { weight: 1, zone: 'east' }),
    ];
    const shares = selectDirectEndpoints(AT, plan({ isWeighted: true }), localities, isTrusted).endpoints;
    expect(shares).toEqual([place('10.0.0.1', 2_000), place('10.1.0.1', 500), place('10.1.0.2', 500)]);
    expect(selectDirectEndpoints(AT, plan(), localities, isTrusted).endpoints.map(({ weight }) => weight)).toEqual([
      1, 1, 1,
    ]);
  });

  it('leads a virtual IP to endpoints of its family, and none of loopback', () => {
    const both = [locality([plain('10.0.0.1'), plain('fd00::1')])];
    expect(selectDirectEndpoints({ address: 'fd00:fd::1', port: 80 }, plan(), both, isTrusted).endpoints).toEqual([
      place('fd00::1'),
    ]);
    expect(selectDirectEndpoints({ address: '127.5.0.1', port: 80 }, plan(), both, isTrusted)).toEqual({
      endpoints: [],
      unsupported: 'a virtual IP of loopback cannot be led elsewhere',
    });
  });
});
