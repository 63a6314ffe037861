import { formatProblems, readConfig } from './read-config';

const GOOD = `controlPlanes: ["10.0.0.1:5678"]
dataplanes:
  - name: redis-1
    address: 10.0.0.7
    services:
      - {name: redis, port: 6379, servicePort: 6380, health: {tcp: {}}}
`;

function linesOf(text: string, flags: Readonly<Record<string, unknown>> = {}): readonly string[] {
  const result = readConfig(text, flags);
  return result.ok ? [] : formatProblems('agent.yaml', result.problems);
}

describe('the configuration of an agent', () => {
  it('has defaults for what is left out', () => {
    const result = readConfig(GOOD);
    expect(result).toMatchObject({
      ok: true,
      config: {
        mesh: 'default',
        capture: 'outbounds',
        drainTime: '30s',
        logLevel: 'info',
        dataplanes: [
          {
            namespace: 'default',
            outbounds: [],
            services: [
              {
                serviceAddress: '127.0.0.1',
                protocol: 'tcp',
                guardInbound: false,
                health: { tcp: {}, interval: '10s', timeout: '2s', healthyThreshold: 1, unhealthyThreshold: 2 },
              },
            ],
          },
        ],
      },
    });
  });

  it('takes flags over the file', () => {
    const result = readConfig(GOOD, { plane: 'builtin', mesh: 'shop' });
    expect(result).toMatchObject({ ok: true, config: { plane: 'builtin', mesh: 'shop' } });
  });

  it('lets a process take the connections itself where the plane is direct', () => {
    const text = `controlPlanes: ["10.0.0.1:5678"]
plane: direct
trustedNetworks: [10.0.0.0/8]
capture: redirect
dataplanes:
  - {name: a, address: 10.0.0.7, services: [{name: a, port: 80, serviceAddress: 10.0.0.7}]}
`;
    expect(linesOf(text)).toEqual([]);
    expect(linesOf(text, { plane: 'builtin' })).toHaveLength(1);
  });

  it.each<[name: string, text: string, want: readonly string[]]>([
    [
      'what the plane direct cannot do',
      `controlPlanes: ["10.0.0.1:5678"]
plane: direct
dataplanes:
  - name: a
    address: 10.0.0.1
    services: [{name: a, port: 80, servicePort: 8080, guardInbound: true}]
    outbounds: [{port: 81, backend: {name: b}}]
`,
      [
        'agent.yaml:1:1: trustedNetworks: is required where plane is direct: nothing is encrypted, nobody is known',
        'agent.yaml:1:1: capture: must be redirect or none where plane is direct; got outbounds',
        'agent.yaml:7:5: dataplanes[0].outbounds: must be empty where plane is direct',
        'agent.yaml:6:36: dataplanes[0].services[0].servicePort: must be port (80) where plane is direct: the process takes the connections; got 8080',
        'agent.yaml:6:55: dataplanes[0].services[0].guardInbound: must not be true where plane is direct',
      ],
    ],
    [
      'networks that are none, or that the machine is not in',
      `controlPlanes: ["10.0.0.1:5678"]
plane: direct
capture: none
trustedNetworks: [10.0.0.0/16]
dataplanes: [{name: a, address: 10.1.0.1}]
`,
      ['agent.yaml:5:24: dataplanes[0].address: must be in trustedNetworks where plane is direct; got 10.1.0.1'],
    ],
    [
      'a range of trusted networks that is none',
      `${GOOD}trustedNetworks: [10.0.0.0]\n`,
      ['agent.yaml:7:19: trustedNetworks[0]: must be a range such as 10.0.0.0/8; got "10.0.0.0"'],
    ],
    [
      'a namespace that is none, and two Dataplanes that a zone would call the same',
      `controlPlanes: ["10.0.0.1:5678"]
dataplanes:
  - {name: a, namespace: shop.eu, address: 10.0.0.1}
  - {name: b, namespace: shop, address: 10.0.0.1}
  - {name: b, namespace: eu, address: 10.0.0.1}
  - {name: b.shop, address: 10.0.0.1}
`,
      [
        `agent.yaml:3:15: dataplanes[0].namespace: must be lower-case letters, digits and '-', at most 63, starting and ending with a letter or digit; got "shop.eu"`,
        'agent.yaml:6:6: dataplanes[3].name: is the name of another Dataplane: "b.shop"',
      ],
    ],
    ['no YAML', 'a: [', ['agent.yaml: line 1, column 5: ']],
    [
      'nothing',
      '',
      [
        'agent.yaml: controlPlanes or bundle: one of them is required',
        'agent.yaml: dataplanes: must have an item, unless there is an ingress',
      ],
    ],
    [
      'everything that the schema says, at once',
      `bundel: /x
plane: enovy
state: relative
dataplanes:
  - name: a
    address: 10.0.0.1
    services: [{name: x, port: 70000}]
`,
      [
        'agent.yaml:1:1: bundel: is not a known field; did you mean "bundle"?',
        'agent.yaml:2:1: plane: must be one of envoy, builtin, direct, grpc; got "enovy"',
        'agent.yaml:3:1: state: must be an absolute path; got "relative"',
        'agent.yaml:7:26: dataplanes[0].services[0].port: must be 1 to 65535; got 70000',
      ],
    ],
    [
      'what it cannot say',
      `bundle: /etc/bundle
controlPlanes: ["zone:0"]
dns: {address: 10.0.0.1}
dataplanes:
  - name: a
    address: somewhere
    services:
      - {name: x, port: 80, serviceAddress: somewhere}
      - {name: y, port: 80, health: {tcp: {}, grpc: {}, user: nobody, interval: 1ms}}
    outbounds: [{port: 10001, backend: {}}]
  - {name: a, address: 10.0.0.1, services: [{name: z, port: 1, serviceAddress: 10.0.0.1}]}
`,
      [
        'agent.yaml:2:17: controlPlanes[0]: must have a port of 1 to 65535; got 0',
        'agent.yaml:3:7: dns.address: must be an address of loopback; got "10.0.0.1"',
        'agent.yaml:6:5: dataplanes[0].address: must be an IP address; got "somewhere"',
        'agent.yaml:8:29: dataplanes[0].services[0].serviceAddress: must be an IP address; got "somewhere"',
        'agent.yaml:8:9: dataplanes[0].services[0].servicePort: must not be the port of the proxy at the same address; got 80',
        'agent.yaml:9:19: dataplanes[0].services[1].port: is used by another service or outbound: somewhere:80',
        'agent.yaml:9:29: dataplanes[0].services[1].health: must have one of tcp, http, grpc, command; got tcp, grpc',
        'agent.yaml:9:57: dataplanes[0].services[1].health.user: is for a command only',
        'agent.yaml:9:71: dataplanes[0].services[1].health.interval: must be 100ms to 1h; got 1ms',
        'agent.yaml:10:31: dataplanes[0].outbounds[0].backend: must have either name or labels',
        'agent.yaml:11:6: dataplanes[1].name: is the name of another Dataplane: "a"',
        'agent.yaml:11:45: dataplanes[1].services[0].servicePort: must not be the port of the proxy at the same address; got 1',
      ],
    ],
    [
      'what needs a proxy, for programs that use gRPC without one',
      'bundle: /b\nplane: grpc\ncapture: bind\ndataplanes: [{name: a, address: 10.0.0.1, outbounds: [{port: 1, backend: {name: b}}], ' +
        'services: [{name: x, port: 80, servicePort: 81, guardInbound: true}]}]\n',
      [
        'agent.yaml:3:1: capture: must be none where plane is grpc; got bind',
        'agent.yaml:4:43: dataplanes[0].outbounds: must be empty where plane is grpc',
        'agent.yaml:4:118: dataplanes[0].services[0].servicePort: must be port (80) where plane is grpc',
        'agent.yaml:4:135: dataplanes[0].services[0].guardInbound: must not be true where plane is grpc',
      ],
    ],
    [
      'clients whom nothing tells apart, or that two Dataplanes claim',
      'bundle: /b\nplane: builtin\ncapture: bind\ndataplanes:\n' +
        '  - {name: a, address: 10.0.0.1, clients: {users: [web]}}\n' +
        '  - {name: b, address: 10.0.0.1, clients: {users: ["1", web]}}\n',
      [
        'agent.yaml:5:34: dataplanes[0].clients: must not stand where capture is bind: only redirect tells users apart',
        'agent.yaml:5:34: dataplanes[0].clients: must not stand where plane is builtin: only envoy tells users apart',
        'agent.yaml:6:34: dataplanes[1].clients: must not stand where capture is bind',
        'agent.yaml:6:34: dataplanes[1].clients: must not stand where plane is builtin',
        'agent.yaml:6:57: dataplanes[1].clients.users[1]: is named before: web',
      ],
    ],
    [
      'users that are none, and ports without room for those of others',
      'bundle: /b\ncapture: redirect\nredirect: {port: 15001, reentryPort: 15021}\ndataplanes:\n' +
        '  - {name: a, address: 10.0.0.1}\n  - {name: b, address: 10.0.0.1, clients: {users: [web]}}\n',
      ['agent.yaml:3:1: redirect: must have ports that leave room for 2 Dataplanes, 20 for each; got 15021 twice'],
    ],
    [
      'a user that is none',
      'bundle: /b\ncapture: redirect\ndataplanes: [{name: a, address: 10.0.0.1, clients: {users: ["a b"]}}]\n',
      ['agent.yaml:3:61: dataplanes[0].clients.users[0]: must be a user name or number; got "a b"'],
    ],
    [
      'an ingress beside Dataplanes',
      'controlPlanes: ["a:1"]\ningress: {name: i}\ndataplanes: [{name: a, address: 10.0.0.1}]\n',
      ['agent.yaml:2:1: ingress: must not stand beside dataplanes: an ingress is an agent of its own'],
    ],
    [
      'an ingress that says where it listens',
      'controlPlanes: ["a:1"]\ningress: {name: i, address: 10.0.0.1, advertisedPort: 443, adress: x}\n',
      [
        'agent.yaml:2:20: ingress.address: is not set here but in its ZoneIngress: spec.networking',
        'agent.yaml:2:39: ingress.advertisedPort: is not set here but in its ZoneIngress: spec.networking',
        'agent.yaml:2:60: ingress.adress: is not a known field',
      ],
    ],
  ])('says what is wrong with %s', (_, text, want) => {
    const lines = linesOf(text);
    expect(lines.map((line, i) => line.slice(0, (want[i] ?? line).length))).toEqual(want);
  });

  it('gives no place in the file for what a flag says', () => {
    expect(linesOf(GOOD, { plane: 'x' })).toEqual([
      'agent.yaml: plane: must be one of envoy, builtin, direct, grpc; got "x"',
    ]);
  });
});
