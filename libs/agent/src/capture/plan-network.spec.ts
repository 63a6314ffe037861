import { checkConfig } from '../config/read-config';
import type { AgentConfig } from '../config/schema';
import { describeRefusedClients, describeUnansweredNames, planNetwork } from './plan-network';

function configOf(given: object): AgentConfig {
  const checked = checkConfig({ controlPlanes: ['127.0.0.1:5678'], ...given });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.config;
}
function configProblems(range: string): readonly string[] {
  const given = { capture: 'redirect', redirect: { ranges: [range] }, dataplanes: [dataplane()] };
  const checked = checkConfig({ controlPlanes: ['127.0.0.1:5678'], ...given });
  return checked.ok ? [] : checked.problems.map(({ field }) => field);
}
const dataplane = (services: readonly object[] = []): object => ({ name: 'a', address: '10.0.0.7', services });
const received = (name: string, ...users: readonly string[]): readonly object[] => [
  { name, address: '10.0.0.8', clients: { users } },
];
const RANGES = ['241.0.0.0/8', '242.0.0.0/8', '243.0.0.0/8'];

describe('planNetwork', () => {
  it.each<[string, object, 'envoy' | 'builtin', object]>([
    ['nothing for bind', { capture: 'bind', dataplanes: [dataplane()] }, 'envoy', {}],
    ['nothing for explicit outbounds', { dataplanes: [dataplane()] }, 'envoy', {}],
    ['nothing for an ingress', { capture: 'redirect', ingress: { name: 'i' } }, 'envoy', {}],
    [
      'the ranges of a zone, to the port where Envoy listens',
      { capture: 'redirect', dataplanes: [dataplane()] },
      'envoy',
      { capture: { type: 'redirect', ranges: RANGES, port: 15_001 } },
    ],
    [
      'ranges and a port of the configuration',
      { capture: 'redirect', redirect: { port: 16_001, ranges: ['240.1.0.0/16'] }, dataplanes: [dataplane()] },
      'envoy',
      { capture: { type: 'redirect', ranges: ['240.1.0.0/16'], port: 16_001 } },
    ],
    [
      'addresses of the machine for the builtin plane',
      { capture: 'redirect', dataplanes: [dataplane()] },
      'builtin',
      { capture: { type: 'listen', ranges: RANGES } },
    ],
    [
      'to a port of each Dataplane that names clients, and of the first one',
      { capture: 'redirect', dataplanes: [dataplane(), ...received('b', 'web'), ...received('c', '1001', 'x')] },
      'envoy',
      {
        capture: {
          type: 'redirect',
          ranges: RANGES,
          port: 15_001,
          byUser: [
            { users: ['web'], port: 15_021 },
            { users: ['1001', 'x'], port: 15_041 },
          ],
        },
      },
    ],
    [
      'to no port where the first names clients too',
      { capture: 'redirect', dataplanes: received('b', 'web') },
      'envoy',
      { capture: { type: 'redirect', ranges: RANGES, byUser: [{ users: ['web'], port: 15_001 }] } },
    ],
    [
      'refusals of clients whom the builtin plane cannot tell from others',
      { capture: 'redirect', dataplanes: [dataplane(), ...received('b', 'web')] },
      'builtin',
      { capture: { type: 'listen', ranges: RANGES, refused: ['web'] } },
    ],
    [
      'guarded services, and the ports of the proxy of all',
      {
        dataplanes: [
          dataplane([
            { name: 'x', port: 80, servicePort: 8080, guardInbound: true },
            { name: 'y', port: 81 },
            { name: 'z', port: 82, guardInbound: true },
          ]),
        ],
      },
      'envoy',
      {
        guard: {
          ports: [8080, 82],
          open: [80, 81, 82].map((port) => ({ address: '10.0.0.7', port })),
          users: [997],
        },
      },
    ],
  ])('%s', (_, config, plane, want) => {
    expect(planNetwork(configOf(config), { plane, uid: 997, ranges: undefined, bindsAnyIpv6: false })).toEqual(want);
  });

  it('takes the ranges that the zone has sent, but for those of the configuration', () => {
    const facts = { plane: 'envoy', uid: 0, ranges: ['244.0.0.0/8'], bindsAnyIpv6: false } as const;
    const given = { capture: 'redirect', dataplanes: [dataplane()] };
    const rangesOf = (config: object): unknown => planNetwork(configOf(config), facts).capture?.ranges;
    expect(rangesOf(given)).toEqual(['244.0.0.0/8']);
    expect(rangesOf({ ...given, redirect: { ranges: ['245.0.0.0/8'] } })).toEqual(['245.0.0.0/8']);
  });

  it('leaves IPv6 out where the builtin plane cannot listen there, and says so', () => {
    const config = configOf({ capture: 'redirect', dataplanes: [dataplane()] });
    const facts = { plane: 'builtin', uid: 0, ranges: ['244.0.0.0/8', 'fd00::/64'] } as const;
    expect(planNetwork(config, { ...facts, bindsAnyIpv6: false })).toEqual({
      capture: { type: 'listen', ranges: ['244.0.0.0/8'] },
      uncaught: { ranges: ['fd00::/64'], reason: expect.stringContaining('ip_nonlocal_bind=1') as string },
    });
    expect(planNetwork(config, { ...facts, bindsAnyIpv6: true })).toEqual({
      capture: { type: 'listen', ranges: ['244.0.0.0/8', 'fd00::/64'] },
    });
  });

  it.each([['241.0.0.0'], ['241.0.0.0/33'], ['fd00::/129'], ['0.0.0.0/0; drop']])('refuses the range %s', (range) => {
    expect(configProblems(range)).toEqual(['redirect.ranges[0]']);
  });
});

it('says whose clients a plane cannot tell apart', () => {
  const config = configOf({ capture: 'redirect', dataplanes: [dataplane(), ...received('b', 'web', '7')] });
  expect(describeRefusedClients(config, 'envoy')).toEqual([]);
  expect(describeRefusedClients(config, 'builtin')).toEqual([
    'clients of Dataplane b: only the plane envoy tells users apart; what web, 7 dial at virtual IPs is refused',
  ]);
});

it.each<[string, object, readonly string[]]>([
  ['no names, no word', { capture: 'outbounds' }, []],
  ['redirect', { capture: 'redirect', dns: {} }, []],
  ['bind', { capture: 'bind', dns: {} }, []],
  [
    'left out',
    { dns: {} },
    ['dns: hostnames are answered with SERVFAIL: connections to virtual IPs reach no proxy where capture is outbounds'],
  ],
  [
    'none',
    { capture: 'none', dns: {} },
    ['dns: hostnames are answered with SERVFAIL: connections to virtual IPs reach no proxy where capture is none'],
  ],
])('says that names are not answered where nothing leads to their addresses: %s', (_, given, problems) => {
  expect(describeUnansweredNames(configOf({ dataplanes: [dataplane()], ...given }))).toEqual(problems);
});
