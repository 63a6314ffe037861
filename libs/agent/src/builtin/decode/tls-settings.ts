import {
  type CertificateValidationContext,
  type CommonTlsContext,
  type DataSource,
  DownstreamTlsContext,
  RawBuffer,
  SubjectAltNameMatcher_SanType,
  TlsParameters_TlsProtocol,
  type TransportSocket,
  UpstreamTlsContext,
} from '@causeway/proto-gen';
import type { SecureVersion } from 'node:tls';
import { asMessage, readTypedConfig, UnsupportedConfig } from './unsupported-config';

/** Inline text, or the path of the file that contains it. */
export type TextSource = { readonly text: string } | { readonly path: string };

/** Subject Alternative Name that the peer's certificate must match. */
export interface NameRule {
  readonly type: 'URI' | 'DNS' | 'IP';
  readonly match: 'exact' | 'prefix';
  readonly value: string;
}

/** Trust in the peer: authorities by trust domain, one list of authorities, or any peer. */
type PeerTrust =
  | { readonly type: 'secret'; readonly name: string }
  | { readonly type: 'authorities'; readonly pem: TextSource }
  | { readonly type: 'anybody' };

/** TLS settings of one side of a connection. */
export interface TlsContextSettings {
  /** Secret with the own certificate, or the certificate itself; undefined if none is presented. */
  readonly own: { readonly secret: string } | { readonly chain: TextSource; readonly key: TextSource } | undefined;
  readonly peerTrust: PeerTrust;
  /** The peer's certificate must match one of these names; empty: any name. */
  readonly names: readonly NameRule[];
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
  readonly alpn: readonly string[];
}

/** TLS settings towards a server. */
export interface ClientTls extends TlsContextSettings {
  /** Server name (SNI); empty: none is sent. */
  readonly sni: string;
}

/** TLS settings towards clients. */
export interface ServerTls extends TlsContextSettings {
  readonly needsClientCertificate: boolean;
}

const { TLS_AUTO, TLSv1_0, TLSv1_1, TLSv1_2, TLSv1_3 } = TlsParameters_TlsProtocol;
const VERSIONS: ReadonlyMap<TlsParameters_TlsProtocol, SecureVersion> = new Map([
  [TLSv1_0, 'TLSv1'],
  [TLSv1_1, 'TLSv1.1'],
  [TLSv1_2, 'TLSv1.2'],
  [TLSv1_3, 'TLSv1.3'],
]);
const { URI, DNS, IP_ADDRESS } = SubjectAltNameMatcher_SanType;
const NAME_TYPES: ReadonlyMap<SubjectAltNameMatcher_SanType, NameRule['type']> = new Map([
  [URI, 'URI'],
  [DNS, 'DNS'],
  [IP_ADDRESS, 'IP'],
]);

/** Decodes the transport socket of a cluster: TLS or plaintext. */
export function decodeClientTls(socket: TransportSocket | undefined): ClientTls | 'plaintext' {
  if (!socket) return 'plaintext';
  const config = readTypedConfig(socket);
  if (asMessage(RawBuffer, config)) return 'plaintext';
  const tls = asMessage(UpstreamTlsContext, config);
  if (!tls) throw new UnsupportedConfig('transportSocket', `${config.typeUrl} is not known`);
  return { sni: tls.sni, ...readTlsContext(tls.commonTlsContext) };
}

/** Decodes the transport socket of a filter chain; undefined for plaintext. */
export function decodeServerTls(socket: TransportSocket | undefined): ServerTls | undefined {
  if (!socket) return undefined;
  const config = readTypedConfig(socket);
  if (asMessage(RawBuffer, config)) return undefined;
  const tls = asMessage(DownstreamTlsContext, config);
  if (!tls) throw new UnsupportedConfig('transportSocket', `${config.typeUrl} is not known`);
  return { needsClientCertificate: tls.requireClientCertificate === true, ...readTlsContext(tls.commonTlsContext) };
}

function readTlsContext(common: CommonTlsContext | undefined): TlsContextSettings {
  const { validation, trustSecret } = readValidation(common);
  const params = common?.tlsParams;
  return {
    own: readOwnCertificate(common),
    peerTrust: readPeerTrust(validation, trustSecret),
    names: (validation?.matchTypedSubjectAltNames ?? []).map(({ sanType, matcher }) => {
      const type = NAME_TYPES.get(sanType);
      const pattern = matcher?.matchPattern;
      if (type && (pattern?.$case === 'exact' || pattern?.$case === 'prefix'))
        return { type, match: pattern.$case, value: pattern.value };
      throw new UnsupportedConfig('matchTypedSubjectAltNames', 'is neither an exact name nor a prefix');
    }),
    minVersion: VERSIONS.get(params?.tlsMinimumProtocolVersion ?? TLS_AUTO) ?? 'TLSv1.2',
    maxVersion: VERSIONS.get(params?.tlsMaximumProtocolVersion ?? TLS_AUTO) ?? 'TLSv1.3',
    alpn: common?.alpnProtocols ?? [],
  };
}

function readValidation(common: CommonTlsContext | undefined): {
  readonly validation?: CertificateValidationContext | undefined;
  readonly trustSecret?: string | undefined;
} {
  const given = common?.validationContextType;
  switch (given?.$case) {
    case undefined:
      return {};
    case 'validationContext':
      return { validation: given.value };
    case 'validationContextSdsSecretConfig':
      return { trustSecret: given.value.name };
    case 'combinedValidationContext': {
      const { defaultValidationContext, validationContextSdsSecretConfig } = given.value;
      return { validation: defaultValidationContext, trustSecret: validationContextSdsSecretConfig?.name };
    }
  }
}

function readPeerTrust(
  validation: CertificateValidationContext | undefined,
  trustSecret: string | undefined,
): PeerTrust {
  if (trustSecret !== undefined) return { type: 'secret', name: trustSecret };
  if (!validation) return { type: 'anybody' };
  const pem = validation.trustedCa && decodeTextSource(validation.trustedCa);
  if (!pem) throw new UnsupportedConfig('validationContext', 'names no authority');
  return { type: 'authorities', pem };
}

function readOwnCertificate(common: CommonTlsContext | undefined): TlsContextSettings['own'] {
  const secret = common?.tlsCertificateSdsSecretConfigs[0]?.name;
  if (secret !== undefined) return { secret };
  const certificate = common?.tlsCertificates[0];
  const [chain, key] = [decodeTextSource(certificate?.certificateChain), decodeTextSource(certificate?.privateKey)];
  return chain && key && { chain, key };
}

/** Returns the inline text or file path of a data source; undefined if it is empty. */
export function decodeTextSource(source: DataSource | undefined): TextSource | undefined {
  const specifier = source?.specifier;
  switch (specifier?.$case) {
    case undefined:
      return undefined;
    case 'inlineString':
      return { text: specifier.value };
    case 'inlineBytes':
      return { text: specifier.value.toString() };
    case 'filename':
      return { path: specifier.value };
    case 'environmentVariable':
      throw new UnsupportedConfig('environmentVariable', 'is not read');
  }
}
