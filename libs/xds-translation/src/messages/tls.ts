import {
  ApiVersion,
  ConfigSource,
  DownstreamTlsContext,
  SPIFFECertValidatorConfig,
  SubjectAltNameMatcher_SanType,
  TlsParameters_TlsProtocol,
  type TlsSecret,
  UpstreamTlsContext,
} from '@causeway/proto-gen';
import type { IdMatch } from '@causeway/policies';
import type { Callers } from '../access/inbound-access';
import type { TrustDomain } from '../model/trust-domains';
import { packExtension, packFilter } from '@causeway/xds-server';
import { IDENTITY_SECRET, TRUST_SECRET } from '../names/resource-names';

/** The config source "the ADS stream that sent this". */
export const FROM_ADS = ConfigSource.fromPartial({
  configSourceSpecifier: { $case: 'ads', value: {} },
  resourceApiVersion: ApiVersion.V3,
});

/** The ALPN protocol that clients of the mesh offer; servers, also Kuma's, recognise mesh connections by it. */
export const MESH_ALPN = 'kuma';
/** The secrets of a connection: the certificate, and the authorities. */
export interface TlsSecretNames {
  readonly identity: string;
  readonly trust: string;
}
const OWN_SECRETS: TlsSecretNames = { identity: IDENTITY_SECRET, trust: TRUST_SECRET };

/** An id that nobody has: TLS that requires it refuses everybody. */
const NOBODY = 'spiffe://nobody.invalid/';

/**
 * Returns the transport socket towards a server of the mesh: our certificate, this server name, and exactly these SPIFFE ids. Without ids no server
 * is accepted.
 */
export function upstreamTls(sni: string, identities: readonly string[]) {
  return packFilter('tls', UpstreamTlsContext, {
    sni,
    commonTlsContext: { ...commonTls(validation(identities)), alpnProtocols: [MESH_ALPN] },
  });
}

/**
 * Returns the transport socket of an inbound: the handshake refuses a client without a certificate of a trusted authority, or with an id outside
 * `callers`. A filter behind it would be too late: the first bytes of the process would already have reached the client.
 */
export function downstreamTls(callers: Callers | readonly IdMatch[], secrets: TlsSecretNames = OWN_SECRETS) {
  const own = callers === 'anyone' ? undefined : validation(callers);
  return packFilter('tls', DownstreamTlsContext, {
    requireClientCertificate: true,
    // The mesh's ALPN name is left out: once it is negotiated, Envoy takes HTTP/2, which Kuma speaks to every service, for HTTP/1.
    commonTlsContext: { ...commonTls(own, secrets), alpnProtocols: ['h2', 'http/1.1'] },
    // A resumed session would skip verification against authorities that changed since.
    sessionTicketKeysType: { $case: 'disableStatelessSessionResumption', value: true },
    disableStatefulSessionResumption: true,
  });
}

function commonTls(own: ReturnType<typeof validation> | undefined, secrets: TlsSecretNames = OWN_SECRETS) {
  const trust = { name: secrets.trust, sdsConfig: FROM_ADS };
  return {
    tlsParams: { tlsMinimumProtocolVersion: TlsParameters_TlsProtocol.TLSv1_2 },
    tlsCertificateSdsSecretConfigs: [{ name: secrets.identity, sdsConfig: FROM_ADS }],
    validationContextType: own
      ? {
          $case: 'combinedValidationContext' as const,
          value: { defaultValidationContext: own, validationContextSdsSecretConfig: trust },
        }
      : { $case: 'validationContextSdsSecretConfig' as const, value: trust },
  };
}

/** Without names Envoy would accept everybody. */
function validation(identities: readonly (string | IdMatch)[]) {
  return {
    matchTypedSubjectAltNames: (identities.length > 0 ? identities : [NOBODY]).map((id) => ({
      sanType: SubjectAltNameMatcher_SanType.URI,
      matcher: {
        matchPattern:
          typeof id === 'object' && id.type === 'Prefix'
            ? { $case: 'prefix' as const, value: id.value }
            : { $case: 'exact' as const, value: typeof id === 'object' ? id.value : id },
      },
    })),
  };
}

/** A workload's certificate. The key is PEM, or the path of a file that only the proxy can read. */
export interface IdentityCertificate {
  readonly chain: string;
  readonly key: { readonly pem: string } | { readonly path: string };
}

export function identitySecret({ chain, key }: IdentityCertificate, name = IDENTITY_SECRET) {
  const privateKey =
    'pem' in key
      ? { specifier: { $case: 'inlineString' as const, value: key.pem } }
      : { specifier: { $case: 'filename' as const, value: key.path } };
  const certificateChain = { specifier: { $case: 'inlineString' as const, value: chain } };
  return {
    name,
    type: { $case: 'tlsCertificate' as const, value: { certificateChain, privateKey } },
  };
}

/**
 * Returns the secret of the authorities, each bound to its trust domain: a chain is valid only under the authority of the trust domain in its SPIFFE
 * id.
 */
export function trustSecret(
  domains: readonly TrustDomain[],
  name = TRUST_SECRET,
): Parameters<typeof TlsSecret.fromPartial>[0] {
  const trustDomains = domains.map(({ name: domain, pem }) => ({
    name: domain,
    trustBundle: { specifier: { $case: 'inlineString' as const, value: pem } },
  }));
  return {
    name,
    type: {
      $case: 'validationContext',
      value: {
        customValidatorConfig: packExtension('envoy.tls.cert_validator.spiffe', SPIFFECertValidatorConfig, {
          trustDomains,
        }),
      },
    },
  };
}
