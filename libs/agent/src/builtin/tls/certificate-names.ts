import type { X509Certificate } from 'node:crypto';
import type { NameRule } from '../decode/tls-settings';

const SPIFFE = 'spiffe://';
/** `type:value` of a printed Subject Alternative Name; a value with separators is a JSON string. */
const ALT_NAME = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

/** Returns the URIs among the Subject Alternative Names. */
export function listUris({ subjectAltName }: Pick<X509Certificate, 'subjectAltName'>): readonly string[] {
  return listAltNames(subjectAltName ?? '').flatMap(([type, value]) => (type === 'URI' ? [value] : []));
}

function listAltNames(text: string): readonly (readonly [type: string, value: string])[] {
  return [...text.matchAll(ALT_NAME)].map(([, type = '', value = '']) => [type, unquoted(value)] as const);
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    const text: unknown = JSON.parse(value);
    return typeof text === 'string' ? text : '';
  } catch {
    return '';
  }
}

/** Returns the SPIFFE ids and their trust domain; undefined if there is none, or more than one trust domain. */
export function findSpiffeIds(
  uris: readonly string[],
): { readonly ids: readonly string[]; readonly trustDomain: string } | undefined {
  const ids = uris.filter((uri) => uri.startsWith(SPIFFE));
  const domains = new Set(ids.map(readTrustDomain));
  const [trustDomain] = domains;
  return domains.size === 1 && trustDomain !== undefined && trustDomain !== '' ? { ids, trustDomain } : undefined;
}

/** Returns the trust domain of a SPIFFE id. */
export function readTrustDomain(id: string): string {
  const rest = id.slice(SPIFFE.length);
  const end = rest.indexOf('/');
  return end < 0 ? rest : rest.slice(0, end);
}

/** Returns whether a certificate matches one of the names; always true if `rules` is empty. */
export function hasName(certificate: X509Certificate, rules: readonly NameRule[]): boolean {
  if (rules.length === 0) return true;
  const names = listAltNames(certificate.subjectAltName ?? '');
  return rules.some(({ type, match, value }) => {
    if (match === 'prefix') return names.some(([of, name]) => of === type && name.startsWith(value));
    if (type === 'DNS')
      return certificate.checkHost(value, { subject: 'never', partialWildcards: false }) !== undefined;
    if (type === 'IP') return certificate.checkIP(value) !== undefined;
    return names.some(([of, name]) => of === type && name === value);
  });
}
