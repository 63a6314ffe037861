import { isIP } from 'node:net';
import {
  SubjectAltNameMatcher_SanType,
  TlsParameters_TlsProtocol,
  UpstreamTlsContext,
  type CertificateValidationContext,
} from '@causeway/proto-gen';
import type { Violation } from '@causeway/resources';
import { addressesOfHost, type DestinationUpstream } from '../model/destination';
import type { AltName, ExternalTarget, ExternalTls, ServerCheck, TlsVersion } from '../model/external-target';
import { packFilter } from '@causeway/xds-server';
import { endpoint, toLocality, toMetadata } from './endpoints';

const PROTOCOLS: Readonly<Record<TlsVersion, TlsParameters_TlsProtocol>> = {
  TLSAuto: TlsParameters_TlsProtocol.TLS_AUTO,
  TLS10: TlsParameters_TlsProtocol.TLSv1_0,
  TLS11: TlsParameters_TlsProtocol.TLSv1_1,
  TLS12: TlsParameters_TlsProtocol.TLSv1_2,
  TLS13: TlsParameters_TlsProtocol.TLSv1_3,
};

/** Reports whether servers of a destination are verified by the system authorities of the proxy's host. */
export function needsSystemAuthorities({ external }: Pick<DestinationUpstream, 'external'>): boolean {
  const check = external?.tls?.verify;
  return check?.type === 'authority' && check.authority === 'system';
}

/** Returns why an external service cannot be translated: its cluster has no endpoints. */
export function findExternalProblem(
  { problem, tls }: Pick<ExternalTarget, 'problem' | 'tls'>,
  systemAuthorities: string | undefined,
): Violation | undefined {
  if (problem) return { field: problem.field, rule: 'not-allowed', reason: problem.reason };
  if (systemAuthorities !== undefined || !needsSystemAuthorities({ external: { endpoints: [], ...(tls && { tls }) } }))
    return undefined;
  const reason = 'is needed: the proxy does not say which authorities its machine trusts';
  return { field: 'spec.tls.verification.caCert', rule: 'required', reason };
}

/** Returns the endpoints with their host names, for an agent that resolves and checks them. */
export function namedExternalEndpoints(target: ExternalTarget) {
  return externalLocalities(target, (host) => [host]);
}

/** Returns the endpoints at those addresses of their hosts that may be dialled. */
export function externalEndpoints(clusterName: string, destination: DestinationUpstream) {
  const { external } = destination;
  if (!external) return { clusterName };
  return { clusterName, endpoints: externalLocalities(external, (host) => addressesOfHost(destination, host)) };
}

/**
 * Groups endpoints by priority, without gaps; each endpoint names its transport socket where hosts differ in TLS. A host name yields an endpoint for
 * each address.
 */
function externalLocalities({ endpoints, tls }: ExternalTarget, listAddresses: (host: string) => readonly string[]) {
  const priorities = [...new Set(endpoints.map(({ priority }) => priority))].sort((a, b) => a - b);
  const named = tls?.serverName === '';
  return priorities.map((priority, i) => ({
    ...toLocality('', i),
    lbEndpoints: endpoints
      .filter((each) => each.priority === priority)
      .flatMap(({ host, port }) =>
        listAddresses(host).map((address) => ({
          ...endpoint({ address, port }),
          ...(named && toMetadata({ host })),
        })),
      ),
  }));
}

/** Returns the transport sockets of the endpoints: one, or one for each host where hosts have their own server names. */
export function externalSockets(
  { endpoints, tls }: ExternalTarget,
  systemAuthorities: string | undefined,
  alpnProtocols: readonly string[] = [],
) {
  if (!tls) return {};
  const socket = (host: string) => socketTo(host, tls, { system: systemAuthorities, alpnProtocols });
  if (tls.serverName !== '') return { transportSocket: socket(tls.serverName) };
  const hosts = [...new Set(endpoints.map(({ host }) => host))];
  const [first = ''] = hosts;
  return {
    transportSocket: socket(first),
    ...(hosts.length > 1 && {
      transportSocketMatches: hosts.map((host) => ({
        name: host,
        match: { host },
        transportSocket: socket(host),
      })),
    }),
  };
}

function socketTo(
  host: string,
  { verify, client, version, allowRenegotiation }: ExternalTls,
  { system, alpnProtocols }: { readonly system: string | undefined; readonly alpnProtocols: readonly string[] },
) {
  return packFilter('tls', UpstreamTlsContext, {
    sni: isIP(host) === 0 ? host : '',
    allowRenegotiation,
    commonTlsContext: {
      alpnProtocols: [...alpnProtocols],
      tlsParams: {
        tlsMinimumProtocolVersion: PROTOCOLS[version.min],
        tlsMaximumProtocolVersion: PROTOCOLS[version.max],
      },
      ...(client && {
        tlsCertificates: [{ certificateChain: inline(client.certificate), privateKey: inline(client.key) }],
      }),
      ...(verify.type === 'authority' && {
        validationContextType: { $case: 'validationContext' as const, value: validation(host, verify, system) },
      }),
    },
  });
}

function validation(
  host: string,
  { authority, names }: Extract<ServerCheck, { readonly type: 'authority' }>,
  system: string | undefined,
): Parameters<typeof CertificateValidationContext.fromPartial>[0] {
  const wanted: readonly AltName[] =
    names === 'any' || names.length > 0 ? (names === 'any' ? [] : names) : [{ match: 'exact', value: host }];
  return {
    trustedCa: authority === 'system' ? { specifier: { $case: 'filename', value: system ?? '' } } : inline(authority),
    matchTypedSubjectAltNames: wanted.flatMap(matchers),
  };
}

/** The form of a name decides whether it is an address, a URI or a host name; a prefix is matched against both URIs and host names. */
function matchers({ match, value }: AltName) {
  const { DNS, IP_ADDRESS, URI } = SubjectAltNameMatcher_SanType;
  const types =
    match === 'prefix' ? [DNS, URI] : isIP(value) !== 0 ? [IP_ADDRESS] : value.includes('://') ? [URI] : [DNS];
  return types.map((sanType) => ({ sanType, matcher: { matchPattern: { $case: match, value } } }));
}

function inline(value: string) {
  return { specifier: { $case: 'inlineString' as const, value } };
}
