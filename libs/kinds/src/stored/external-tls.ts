import { FieldPath, isJsonObject, type JsonObject, type JsonValue, type SpecOf } from '@causeway/resources';
import { certificateBlocks, privateKeyBlocks } from '../schema/certificate-rules';
import { decodedPem, readSource, type CertificateSourceSpec, type ReadSource } from '../schema/certificate-source';
import { MeshExternalService } from '../mesh-external-service';
import { withoutNulls } from './without-nulls';

/** A field of a MeshExternalService, and what is wrong with it. */
export interface ExternalProblem {
  readonly field: string;
  readonly reason: string;
}

/** TLS towards a server outside the mesh. */
export interface ExternalTls {
  /** Empty: the host of each endpoint. */
  readonly serverName: string;
  readonly verify: ServerCheck;
  /** The certificate by which the server knows the mesh. */
  readonly client?: { readonly certificate: string; readonly key: string };
  readonly version: { readonly min: TlsVersion; readonly max: TlsVersion };
  readonly allowRenegotiation: boolean;
}

/** How a server is verified. */
export type ServerCheck =
  | { readonly type: 'none' }
  | {
      readonly type: 'authority';
      /** PEM; `system`: the authorities that the proxy's machine trusts. */
      readonly authority: string;
      /** One of these must be in the certificate; empty: the server name; `any`: not looked at. */
      readonly names: readonly AltName[] | 'any';
    };

export interface AltName {
  readonly match: 'exact' | 'prefix';
  readonly value: string;
}

export type TlsVersion = 'TLSAuto' | 'TLS10' | 'TLS11' | 'TLS12' | 'TLS13';

/** Result of looking up a Secret for a resource: its data in base64, or why the resource does not get it. */
export type SecretResult =
  { readonly ok: true; readonly data: string } | { readonly ok: false; readonly reason: string };

/** Asks for a Secret of the service's mesh by name. */
export type SecretLookup = (name: string) => SecretResult;

/** TLS towards a server outside the mesh. */
export type ExternalTrust =
  | { readonly type: 'plain' }
  | {
      readonly type: 'tls';
      readonly tls: ExternalTls;
      /** Source of the key of the client certificate: `Secret NAME`, or `inline`; undefined without one. */
      readonly clientKey?: string;
      /** Ignored content of its sources. */
      readonly dropped: readonly ExternalProblem[];
    }
  /** It cannot be spoken to: nothing goes out unprotected, or to a server that is not checked as was asked for. */
  | ({ readonly type: 'problem' } & ExternalProblem);

type TlsDocument = NonNullable<SpecOf<typeof MeshExternalService>['tls']>;
type Pem = { readonly pem: string; readonly dropped: readonly ExternalProblem[] } | ExternalProblem;

const AT = 'spec.tls.verification';

/**
 * Returns why the trust of a stored MeshExternalService has a form that this version does not know; undefined if it has
 * not. Everything below `tls` restricts which servers are trusted, so an unknown field, value or form closes: it is
 * never read as absent.
 */
export function unreadableTrust({ tls }: JsonObject): ExternalProblem | undefined {
  const read = wellFormed(tls);
  return read && 'reason' in read ? read : undefined;
}

/** Reads how a server is spoken to. Linear in the spec and the Secrets that it names. */
export function readExternalTrust({ tls: stored }: JsonObject, secret: SecretLookup): ExternalTrust {
  const document = wellFormed(stored);
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
  const document = wellFormed(tls);
  const source = document && !('reason' in document) ? readSource(document.verification?.clientKey) : undefined;
  return source && formatSourceName(source);
}

function formatSourceName(source: ReadSource): string {
  return source.type === 'secret' ? `Secret ${source.name}` : 'inline';
}

/** The TLS of a service where it is on; undefined where it is off. */
function wellFormed(stored: JsonValue | undefined): TlsDocument | ExternalProblem | undefined {
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

/** Names of a certificate that no authority vouches for say nothing, so `SkipCA` looks at none. */
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

/** The blocks of a source that count: certificates, or the one key. Undefined where there is no source. */
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
  const text = decodedPem(found.data);
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
