import { FieldPath, isJsonObject, type JsonObject, type JsonValue, type SpecOf } from '@causeway/resources';
import { certificateBlocks, privateKeyBlocks } from '../schema/certificate-rules';
import { decodePem, readSource, type CertificateSourceSpec, type ReadSource } from '../schema/certificate-source';
import { MeshExternalService } from '../mesh-external-service';
import { withoutNulls } from './without-nulls';

/** Problem of one field of a MeshExternalService. */
export interface ExternalProblem {
  readonly field: string;
  readonly reason: string;
}

/** TLS settings for connections to a server outside the mesh. */
export interface ExternalTls {
  /** Server name (SNI); empty means the host of each endpoint. */
  readonly serverName: string;
  readonly verify: ServerCheck;
  /** Client certificate that the proxies present to the server. */
  readonly client?: { readonly certificate: string; readonly key: string };
  readonly version: { readonly min: TlsVersion; readonly max: TlsVersion };
  readonly allowRenegotiation: boolean;
}

/** Verification of a server's certificate. */
export type ServerCheck =
  | { readonly type: 'none' }
  | {
      readonly type: 'authority';
      /** Trusted authorities in PEM; `system` means those of the proxy's host. */
      readonly authority: string;
      /** Names of which the certificate must contain one; empty means the server name, `any` skips the check. */
      readonly names: readonly AltName[] | 'any';
    };

export interface AltName {
  readonly match: 'exact' | 'prefix';
  readonly value: string;
}

export type TlsVersion = 'TLSAuto' | 'TLS10' | 'TLS11' | 'TLS12' | 'TLS13';

/** Result of a Secret lookup for a resource: its data in base64, or the reason why the resource does not get it. */
export type SecretResult =
  { readonly ok: true; readonly data: string } | { readonly ok: false; readonly reason: string };

/** Looks up a Secret of the service's mesh by name. */
export type SecretLookup = (name: string) => SecretResult;

/** Result of reading the TLS settings of a server outside the mesh. */
export type ExternalTrust =
  | { readonly type: 'plain' }
  | {
      readonly type: 'tls';
      readonly tls: ExternalTls;
      /** Source of the key of the client certificate: `Secret NAME`, or `inline`; undefined without one. */
      readonly clientKey?: string;
      /** Problems of content that is ignored. */
      readonly dropped: readonly ExternalProblem[];
    }
  /** No connection is possible: none is made without TLS, or to a server that cannot be verified as configured. */
  | ({ readonly type: 'problem' } & ExternalProblem);

type TlsDocument = NonNullable<SpecOf<typeof MeshExternalService>['tls']>;
type Pem = { readonly pem: string; readonly dropped: readonly ExternalProblem[] } | ExternalProblem;

const AT = 'spec.tls.verification';

/**
 * Returns why this version cannot read the trust of a stored MeshExternalService; undefined if it can. Every field
 * below `tls` restricts the trusted servers, so unknown fields, values and forms deny connections: they are never
 * treated as absent.
 */
export function unreadableTrust({ tls }: JsonObject): ExternalProblem | undefined {
  const read = readTlsDocument(tls);
  return read && 'reason' in read ? read : undefined;
}

/** Reads how to connect to a server. Linear in the spec and the Secrets that it names. */
export function readExternalTrust({ tls: stored }: JsonObject, secret: SecretLookup): ExternalTrust {
  const document = readTlsDocument(stored);
  if (!document) return { type: 'plain' };
  if ('reason' in document) return { type: 'problem', ...document };
  const { clientCert, clientKey, serverName = '' } = document.verification ?? {};
  const certificate = findPem(clientCert, 'clientCert', secret);
  const key = findPem(clientKey, 'clientKey', secret);
  for (const read of [certificate, key]) if (read && 'reason' in read) return { type: 'problem', ...read };
  const check = readCheck(document, secret);
  if ('reason' in check) return { type: 'problem', ...check };
  const { min = 'TLSAuto', max = 'TLSAuto' } = document.version ?? {};
  const hasClient = certificate && key && 'pem' in certificate && 'pem' in key;
  const keySource = clientKey && readSource(clientKey);
  return {
    type: 'tls',
    tls: {
      serverName,
      verify: check.verify,
      ...(hasClient && { client: { certificate: certificate.pem, key: key.pem } }),
      version: { min, max },
      allowRenegotiation: document.allowRenegotiation === true,
    },
    ...(keySource && { clientKey: formatSourceName(keySource) }),
    dropped: [...check.dropped, ...(certificate && 'pem' in certificate ? certificate.dropped : [])],
  };
}

/** Returns the source of the key of the client certificate of a stored MeshExternalService, as in `ExternalTrust`. */
export function clientKeySource({ tls }: JsonObject): string | undefined {
  const document = readTlsDocument(tls);
  const source = document && !('reason' in document) ? readSource(document.verification?.clientKey) : undefined;
  return source && formatSourceName(source);
}

function formatSourceName(source: ReadSource): string {
  return source.type === 'secret' ? `Secret ${source.name}` : 'inline';
}

/** Returns the TLS settings of a service; undefined if TLS is off. */
function readTlsDocument(stored: JsonValue | undefined): TlsDocument | ExternalProblem | undefined {
  if (stored === undefined || stored === null) return undefined;
  const tls = withoutNulls(stored);
  if (isJsonObject(tls) && tls['enabled'] === false) return undefined;
  const spec = { match: { port: 1 }, tls };
  const [violation] = MeshExternalService.check(spec, FieldPath.at('spec')).first;
  if (violation) return { field: violation.field, reason: violation.reason };
  return MeshExternalService.isSpec(spec) && spec.tls?.enabled === true ? spec.tls : undefined;
}

interface ReadCheck {
  readonly verify: ServerCheck;
  readonly dropped: readonly ExternalProblem[];
}

/** Reads the verification. `SkipCA` checks no names: without a trusted authority they prove nothing. */
function readCheck({ verification = {} }: TlsDocument, secret: SecretLookup): ReadCheck | ExternalProblem {
  const { mode = 'Secured', caCert, subjectAltNames = [] } = verification;
  if (mode === 'SkipAll' || mode === 'SkipCA') return { verify: { type: 'none' }, dropped: [] };
  const read = findPem(caCert, 'caCert', secret);
  if (read && 'reason' in read) return read;
  const { pem: authority, dropped } = read ?? { pem: 'system', dropped: [] };
  const names = subjectAltNames.map(({ type, value }): AltName => ({
    match: type === 'Prefix' ? 'prefix' : 'exact',
    value,
  }));
  return { verify: { type: 'authority', authority, names: mode === 'SkipSAN' ? 'any' : names }, dropped };
}

/** Returns the relevant PEM blocks of a source: certificates, or the one key. Undefined if there is no source. */
function findPem(
  document: CertificateSourceSpec | undefined,
  name: 'caCert' | 'clientCert' | 'clientKey',
  secret: SecretLookup,
): Pem | undefined {
  const source = readSource(document);
  if (!source) return undefined;
  const field = `${AT}.${name}`;
  const found = source.type === 'secret' ? secret(source.name) : ({ ok: true, data: source.text } as const);
  if (!found.ok) return { field, reason: found.reason };
  const text = decodePem(found.data);
  const isKey = name === 'clientKey';
  const { pem, count, others } = isKey ? privateKeyBlocks(text) : certificateBlocks(text);
  if (isKey)
    return count === 1 ? { pem, dropped: [] } : { field, reason: 'must hold one PEM private key, not encrypted' };
  if (count === 0) return { field, reason: 'must hold a certificate in PEM; nothing else counts' };
  const dropped = others.map((label) => ({
    field,
    reason: `a block ${label} is left out: only certificates count`,
  }));
  return { pem, dropped };
}
