import {
  HttpConnectionManager,
  HttpRbac,
  Listener,
  NetworkRbac,
  TcpProxy,
  type FilterChain,
  type Principal,
} from '@causeway/proto-gen';
import fc from 'fast-check';
import type { InboundAccessConfig } from '../access/inbound-access';
import { encodeResource, packFilter } from '@causeway/xds-server';
import type { Inbound } from '../dataplane/inbound';
import { joinedFilters, type InboundFilters } from '../policies/inbound-filters';
import { inboundListener } from './inbound-listeners';

const ID = 'spiffe://default.east.mesh.local/workload/web';
const access: InboundAccessConfig = {
  mtls: 'Strict',
  rules: [],
  callers: 'anyone',
  revoked: [],
  ended: [],
  needsClientCertHeader: false,
  maxAge: 90_000,
  narrowed: 0,
};
const inboundOf = (protocol: Inbound['protocol'], address = '10.0.0.1'): Inbound => ({
  at: { address, port: 80 },
  process: { address: '127.0.0.1', port: 8080 },
  protocol,
  clusterName: 'localhost:127.0.0.1:8080',
});

/** The chains of a listener as it is sent. */
function chainsOf(inbound: Inbound, given: Partial<InboundAccessConfig>): readonly FilterChain[] {
  const result = encodeResource(Listener, inboundListener(inbound, { ...access, ...given }), undefined);
  if (!result.ok) throw new Error(JSON.stringify(result.violations));
  return Listener.fromPartial(inboundListener(inbound, { ...access, ...given })).filterChains;
}

/** The configuration of a chain's filter, encoded. */
function configOf({ filters }: FilterChain, name: string): Uint8Array {
  const config = filters.find((each) => each.name === name)?.configType;
  if (config?.$case !== 'typedConfig') throw new Error(`no filter ${name}`);
  return config.value.value;
}

const summary = ({ name, transportSocket }: FilterChain): string => (transportSocket ? `${name} over TLS` : name);

describe('the chains of an inbound', () => {
  it('policies stand after who calls and before the process, in every chain', () => {
    const added =
      (name: string): InboundFilters =>
      ({ isTls, isHttp }) => ({
        network: [packFilter(`${name}-${isTls ? 'tls' : 'plain'}`, NetworkRbac, { statPrefix: name })],
        http: isHttp ? [packFilter(`${name}-requests`, HttpRbac, {})] : [],
      });
    const both = joinedFilters([added('a'), added('b')]);
    const chains = Listener.fromPartial(
      inboundListener(inboundOf('http'), { ...access, mtls: 'Permissive' }, both),
    ).filterChains;
    expect(chains.map(({ filters }) => filters.map(({ name }) => name))).toEqual([
      ['access', 'a-tls', 'b-tls', 'http'],
      ['a-plain', 'b-plain', 'http'],
    ]);
    for (const chain of chains) {
      const { httpFilters } = HttpConnectionManager.decode(configOf(chain, 'http'));
      expect(httpFilters.map(({ name }) => name)).toEqual(['a-requests', 'b-requests', 'router']);
    }
  });

  it.each<[string, Inbound['protocol'], Partial<InboundAccessConfig>, readonly string[]]>([
    ['Strict: TLS of the mesh only', 'tcp', {}, ['mesh over TLS']],
    [
      'Permissive: TLS of the mesh, TLS of the process, plaintext',
      'tcp',
      { mtls: 'Permissive' },
      ['mesh over TLS', 'plaintext', 'own-tls'],
    ],
    [
      'Permissive before an HTTP process: all TLS is the mesh\u2019s',
      'http',
      { mtls: 'Permissive' },
      ['mesh over TLS', 'plaintext'],
    ],
    [
      'Permissive, where callers are named: none without an identity',
      'tcp',
      { mtls: 'Permissive', callers: [ID] },
      ['mesh over TLS'],
    ],
    ['Off', 'grpc', { mtls: 'Off' }, ['plaintext']],
    ['Off, where nobody may call', 'tcp', { mtls: 'Off', callers: [] }, ['closed']],
    ['a narrowing makes another chain', 'tcp', { narrowed: 3 }, ['mesh:3 over TLS']],
  ])('%s', (_, protocol, given, want) => {
    expect(chainsOf(inboundOf(protocol), given).map(summary)).toEqual(want);
  });

  it('connections end with their age, and TLS is verified before the process is dialled', () => {
    const proxies = chainsOf(inboundOf('tcp'), {}).map((chain) => TcpProxy.decode(configOf(chain, 'tcp-proxy')));
    const [{ maxDownstreamConnectionDuration, upstreamConnectMode, maxEarlyDataBytes } = TcpProxy.create()] = proxies;
    expect([maxDownstreamConnectionDuration?.seconds, upstreamConnectMode, maxEarlyDataBytes]).toEqual([90, 2, 0]);
  });
});

const anyAccess = fc.record<InboundAccessConfig>({
  mtls: fc.constantFrom('Strict', 'Permissive', 'Off'),
  rules: fc.constant([]),
  callers: fc.oneof(fc.constant('anyone' as const), fc.array(fc.constantFrom(ID, `${ID}2`), { maxLength: 3 })),
  revoked: fc.subarray([ID, `${ID}2`, `${ID}3`]),
  ended: fc.constant([]),
  needsClientCertHeader: fc.boolean(),
  maxAge: fc.integer({ min: 1_000, max: 86_400_000 }),
  narrowed: fc.nat(5),
});
const anyInbound = fc
  .tuple(fc.constantFrom('tcp', 'http', 'http2', 'grpc', 'kafka'), fc.constantFrom('10.0.0.1', 'fd00::1'))
  .map(([protocol, address]) => inboundOf(protocol, address));

test('I12: who has no verified identity gets nowhere unless the mode takes plaintext and anyone may call', () => {
  fc.assert(
    fc.property(anyInbound, anyAccess, (inbound, given) => {
      const chains = chainsOf(inbound, given);
      const mayBePlain = given.mtls !== 'Strict' && given.callers === 'anyone';
      for (const chain of chains.filter(({ name }) => name !== 'closed')) {
        if (!chain.transportSocket) expect(mayBePlain).toBe(true);
        else for (const id of [ID, `${ID}2`, `${ID}3`]) expect(letsIn(chain, id)).toBe(mayCall(given, id));
      }
      expect(new Set(chains.map(({ name }) => name)).size).toBe(chains.length);
      // A change of the mode alone changes no chain, so it closes only connections of chains that are gone.
      for (const mtls of ['Strict', 'Permissive', 'Off'] as const)
        for (const other of chainsOf(inbound, { ...given, mtls }))
          expect([other, undefined]).toContainEqual(chains.find(({ name }) => name === other.name));
    }),
  );
});

function mayCall({ callers, revoked }: InboundAccessConfig, id: string): boolean {
  return (callers === 'anyone' || callers.includes(id)) && !revoked.includes(id);
}

/** Whether a chain's filter allows a caller that has proved this id. */
function letsIn(chain: FilterChain, id: string): boolean {
  const { rules } = NetworkRbac.decode(configOf(chain, 'access'));
  const all = Object.values(rules?.policies ?? {}).flatMap(({ principals }) => principals);
  return all.some((principal) => isPrincipal(principal, id));
}

function isPrincipal({ identifier }: Principal, id: string): boolean {
  switch (identifier?.$case) {
    case 'authenticated':
      return [undefined, id].some((name) => name === identifier.value.principalName?.matchPattern?.value);
    case 'andIds':
      return identifier.value.ids.every((each) => isPrincipal(each, id));
    case 'notId':
      return !isPrincipal(identifier.value, id);
    default:
      return false;
  }
}
