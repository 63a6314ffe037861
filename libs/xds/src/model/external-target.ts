import { isJsonArray, isJsonObject, type Identity, type JsonObject, type JsonValue } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { isPort } from './zone-entrance';

/** Where a MeshExternalService is, outside the mesh. */
export interface ExternalTarget {
  /** IP addresses or host names, in the order of the service; lower priorities come first. */
  readonly endpoints: readonly { readonly host: string; readonly port: number; readonly priority: number }[];
  readonly tls?: ExternalTls;
  /** What of the service cannot be done; it then has no endpoints, so that nothing goes out unprotected. */
  readonly problem?: ExternalProblem;
}

/** What cannot be done, and the field that says so. */
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

/** By what a server is believed. */
export type ServerCheck =
  | { readonly type: 'none' }
  | {
      readonly type: 'authority';
      /** PEM; `system`: the authorities that the proxy's machine believes. */
      readonly authority: string;
      /** One of these must be in the certificate; empty: the server name; `any`: not looked at. */
      readonly names: readonly AltName[] | 'any';
    };

export interface AltName {
  readonly match: 'exact' | 'prefix';
  readonly value: string;
}

const VERSIONS = ['TLSAuto', 'TLS10', 'TLS11', 'TLS12', 'TLS13'] as const;
export type TlsVersion = (typeof VERSIONS)[number];

const MOST_ENDPOINTS = 1_024;
const MOST_NAMES = 1_024;

/** The data of a Secret of the service's mesh, base64; undefined where there is none of this name. */
export type SecretText = (name: string) => string | undefined;

/** Reads the endpoints and the TLS of a MeshExternalService. */
export function externalTarget(spec: JsonObject, secretText: SecretText): ExternalTarget {
  const tls =
    isJsonObject(spec['tls']) && spec['tls']['enabled'] === true ? readTls(spec['tls'], secretText) : undefined;
  if (tls && 'reason' in tls) return { endpoints: [], problem: tls };
  const listed = isJsonArray(spec['endpoints']) ? spec['endpoints'].slice(0, MOST_ENDPOINTS) : [];
  const endpoints = listed.flatMap((endpoint) => {
    if (!isJsonObject(endpoint)) return [];
    const { address, port, priority } = endpoint;
    if (typeof address !== 'string' || address === '' || !isPort(port)) return [];
    return [{ host: address, port, priority: typeof priority === 'number' ? priority : 0 }];
  });
  return { endpoints, ...(tls && { tls }) };
}

/** The names of the Secrets that a MeshExternalService takes certificates and keys from. */
export function secretsOf({ tls }: JsonObject): readonly string[] {
  const verification = isJsonObject(tls) ? tls['verification'] : undefined;
  if (!isJsonObject(verification)) return [];
  return ['caCert', 'clientCert', 'clientKey'].flatMap((field) => {
    const source = verification[field];
    return isJsonObject(source) && typeof source['secret'] === 'string' ? [source['secret']] : [];
  });
}

/** The TLS, or why it cannot be done. */
function readTls(tls: JsonObject, secretText: SecretText): ExternalTls | ExternalProblem {
  const verification = isJsonObject(tls['verification']) ? tls['verification'] : {};
  const { serverName, clientCert, clientKey } = verification;
  const [certificate, key] = [clientCert, clientKey].map((source) => readSource(source, secretText));
  for (const [field, source] of [
    ['clientCert', certificate],
    ['clientKey', key],
  ] as const)
    if (typeof source === 'object') return { field: `spec.tls.verification.${field}`, ...source };
  if ((certificate === undefined) !== (key === undefined))
    return { field: 'spec.tls.verification', reason: 'clientCert and clientKey are needed together' };
  const verify = readCheck(verification, secretText);
  if ('reason' in verify) return verify;
  return {
    serverName: typeof serverName === 'string' ? serverName : '',
    verify,
    ...(typeof certificate === 'string' && typeof key === 'string' && { client: { certificate, key } }),
    version: readVersion(tls['version']),
    allowRenegotiation: tls['allowRenegotiation'] === true,
  };
}

/** Names of a certificate that no authority vouches for say nothing, so `SkipCA` looks at none. */
function readCheck(verification: JsonObject, secretText: SecretText): ServerCheck | ExternalProblem {
  const { mode = 'Secured', caCert, subjectAltNames } = verification;
  if (mode === 'SkipAll' || mode === 'SkipCA') return { type: 'none' };
  const authority = readSource(caCert, secretText) ?? 'system';
  if (typeof authority === 'object') return { field: 'spec.tls.verification.caCert', ...authority };
  if (mode === 'SkipSAN') return { type: 'authority', authority, names: 'any' };
  if (mode !== 'Secured')
    return { field: 'spec.tls.verification.mode', reason: 'must be Secured, SkipSAN, SkipCA or SkipAll' };
  const listed = isJsonArray(subjectAltNames) ? subjectAltNames.slice(0, MOST_NAMES) : [];
  const names = listed.flatMap((name): readonly AltName[] => {
    if (!isJsonObject(name) || typeof name['value'] !== 'string' || name['value'] === '') return [];
    return [{ match: name['type'] === 'Prefix' ? 'prefix' : 'exact', value: name['value'] }];
  });
  return { type: 'authority', authority, names };
}

function readVersion(version: JsonValue | undefined): ExternalTls['version'] {
  const { min, max } = isJsonObject(version) ? version : {};
  const known = (value: JsonValue | undefined): TlsVersion => VERSIONS.find((each) => each === value) ?? 'TLSAuto';
  return { min: known(min), max: known(max) };
}

/** The PEM of a source; undefined where there is none, an object where it cannot be read. */
function readSource(
  source: JsonValue | undefined,
  secretText: SecretText,
): string | undefined | { readonly reason: string } {
  if (!isJsonObject(source)) return undefined;
  const { secret, inline, inlineString } = source;
  if (typeof inlineString === 'string') return pemOf(inlineString);
  if (typeof inline === 'string') return pemOf(decoded(inline));
  if (typeof secret !== 'string') return undefined;
  const data = secretText(secret);
  return data === undefined ? { reason: `there is no Secret "${secret}" in the mesh` } : pemOf(decoded(data));
}

function pemOf(text: string): string | { readonly reason: string } {
  return text.includes('-----BEGIN ') ? text : { reason: 'must hold PEM' };
}

/** Kuma has base64 where it says "inline"; PEM as it is is understood too. */
function decoded(text: string): string {
  return text.includes('-----BEGIN ') ? text : Buffer.from(text, 'base64').toString('utf8');
}

/** The names under which Kuma stores the certificates and keys of its authorities. */
const AUTHORITY_SECRET = /\.ca-(builtin|provided)-|-(root-ca|private-key)$/;

/** Secrets come from the global; those of a zone that has none are its own. Keys of authorities are given to no service. */
export function secretText(
  index: Pick<IndexReader, 'get'>,
  own: string,
  { mesh, name }: Pick<Identity, 'mesh' | 'name'>,
): string | undefined {
  if (AUTHORITY_SECRET.test(name)) return undefined;
  for (const zone of ['', own]) {
    const found = index.get({ kind: 'Secret', mesh, zone, namespace: '', name })?.spec['data'];
    if (typeof found === 'string') return found;
  }
  return undefined;
}
