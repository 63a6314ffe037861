import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { TokenUse } from './token-definition';

const BITS = 2048;

/** A key that verifies tokens and, if its private half is known, signs them. */
export interface SigningKey {
  readonly serial: number;
  readonly publicKey: KeyObject;
  readonly privateKey?: KeyObject;
}

/** A text parsed as a signing key, or why it is none. The reason never repeats the text. */
export type ParsedSigningKey =
  { readonly ok: true; readonly key: SigningKey } | { readonly ok: false; readonly reason: string };

/** The highest serial that a name can hold. */
export const MAX_SERIAL = 999_999_999_999_999;

/** The name of the GlobalSecret of a serial. */
export function signingKeyName({ signingKey }: TokenUse, serial: number): string {
  return `${signingKey}-${serial}`;
}

/** The serial in a GlobalSecret's name, 0 if it has none (Kuma's oldest keys); undefined for other secrets. */
export function signingKeySerial({ signingKey }: TokenUse, name: string): number | undefined {
  if (!name.startsWith(signingKey)) return undefined;
  if (name === signingKey) return 0;
  const digits = /^-(\d{1,15})$/.exec(name.slice(signingKey.length))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Parses an RSA key in PEM: a private one (PKCS#1 or PKCS#8), or a public one, which only verifies. */
export function parseSigningKey(serial: number, pem: string): ParsedSigningKey {
  const [privateKey, publicKey] = [parse(pem, createPrivateKey), parse(pem, createPublicKey)];
  if (!publicKey) return { ok: false, reason: 'it holds no key in PEM' };
  if (publicKey.asymmetricKeyType !== 'rsa') return { ok: false, reason: 'its key is not an RSA key' };
  const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < BITS) return { ok: false, reason: `its key has ${bits} bits, fewer than ${BITS}` };
  return { ok: true, key: { serial, publicKey, ...(privateKey ? { privateKey } : {}) } };
}

/** A new key as PEM `RSA PRIVATE KEY`, the form that Kuma writes. */
export async function generateSigningKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: BITS });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}

function parse(pem: string, read: (pem: string) => KeyObject): KeyObject | undefined {
  try {
    return read(pem);
  } catch {
    return undefined;
  }
}
