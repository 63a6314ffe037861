import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  certificateBlocks,
  decodePem,
  privateKeyBlocks,
  secretReferences,
  type SecretReference,
} from '@causeway/kinds';
import { isJsonObject, type JsonObject, type JsonValue, type Resource } from '@causeway/resources';

/**
 * Returns the Secrets that a resource keeps using at the upgrade to the version that requires `usedBy`: Secrets with certificates where it expects
 * certificates, and the key of its client certificate. A private key in the place of an authority, or a key that fits no certificate, is left out: it
 * never worked.
 */
export function keptUsers(
  { id, spec }: Pick<Resource, 'id' | 'spec'>,
  named: (name: string) => Resource | undefined,
): readonly Resource[] {
  const references = secretReferences(id.kind, spec);
  const keys = references.filter(({ use }) => use === 'key');
  return references.flatMap((reference) => {
    const secret = named(reference.secret);
    if (!secret) return [];
    const text = getText(secret);
    const isKept =
      reference.use === 'key'
        ? isKeyOf(text, certificateBeside(reference, { id, spec }, named))
        : certificateBlocks(text).count > 0 &&
          (privateKeyBlocks(text).count === 0 || (isClientCertificate(reference) && keys.length > 0));
    return isKept ? [secret] : [];
  });
}

function getText({ spec }: Pick<Resource, 'spec'>): string {
  return decodePem(typeof spec['data'] === 'string' ? spec['data'] : '');
}

/** A certificate and its key may be in one Secret. */
function isClientCertificate({ field }: SecretReference): boolean {
  return !field.includes('.caCert.');
}

/** Returns the text of the certificate that a key belongs to: from a Secret, or inline. */
function certificateBeside(
  { field }: SecretReference,
  { id, spec }: Pick<Resource, 'id' | 'spec'>,
  named: (name: string) => Resource | undefined,
): string {
  const at = field.includes('.clientKey.')
    ? ['tls', 'verification', 'clientCert']
    : ['provider', 'bundled', 'ca', 'certificate'];
  const place = `spec.${at.join('.')}.`;
  const beside = secretReferences(id.kind, spec).find((reference) => reference.field.startsWith(place));
  const secret = beside && named(beside.secret);
  if (secret) return getText(secret);
  const source = at.reduce<JsonValue | undefined>(
    (value, name) => (isJsonObject(value) ? value[name] : undefined),
    spec,
  );
  return isJsonObject(source) ? inlineText(source) : '';
}

function inlineText({ inline, inlineString, insecureInline }: JsonObject): string {
  const value = isJsonObject(insecureInline) ? insecureInline['value'] : undefined;
  const text = inlineString ?? value ?? inline;
  return typeof text === 'string' ? decodePem(text) : '';
}

function isKeyOf(text: string, certificate: string): boolean {
  const [key, chain] = [privateKeyBlocks(text), certificateBlocks(certificate)];
  if (key.count !== 1 || chain.count === 0) return false;
  try {
    return new X509Certificate(chain.pem).checkPrivateKey(createPrivateKey(key.pem));
  } catch {
    return false;
  }
}
