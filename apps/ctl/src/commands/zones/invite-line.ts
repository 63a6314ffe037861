import { X509Certificate } from 'node:crypto';
import { isJsonObject } from '@causeway/resources';
import { UsageError } from '../../context';

/** Everything that a machine needs to make its zone's folder: whom it asks, what verifies that, and the right to a zone token. */
export interface InviteLine {
  readonly zone: string;
  /** The address of the global's REST interface. */
  readonly server: string;
  /** SHA-256 of the certificate of the authority that verifies it, 64 hexadecimal digits; absent: the machine's own authorities do. */
  readonly sha256?: string;
  /** The address at which the zone joins the global: `CAUSEWAY_GLOBAL_ADDRESS`. */
  readonly global: string;
  /** The one-time token. */
  readonly token: string;
}

/** Prefix with the version of the form, so that an older program can report that it is too old. */
const PREFIX = 'causeway-invite-1.';
/** Parts are written into files of settings: they have no line breaks and no spaces. */
const VISIBLE = /^[\x21-\x7e]+$/;
/** Maximum length of an invite, characters. */
const MAX_LENGTH = 16 * 1024;

/** Formats an invite as one line of letters, digits, `-`, `_` and `.`. */
export function formatInvite(invite: InviteLine): string {
  return PREFIX + Buffer.from(JSON.stringify(invite)).toString('base64url');
}

/** Parses an invite; ignores white space and line breaks. Throws UsageError, which repeats nothing of the text. */
export function parseInvite(text: string): InviteLine {
  const line = text.length > MAX_LENGTH ? '' : text.replace(/\s+/g, '');
  if (!line.startsWith(PREFIX))
    throw new UsageError(
      /^causeway-invite-\d+\./.test(line)
        ? `the invite is of another version than this program knows (${PREFIX.slice(0, -1)})`
        : 'the invite must be the line that `causeway zones invite` printed',
    );
  const { zone, server, sha256, global, token } = decode(line.slice(PREFIX.length));
  const isWhole = [zone, server, global, token].every((part) => typeof part === 'string' && VISIBLE.test(part));
  if (!isWhole || (sha256 !== undefined && !(typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256))))
    throw new UsageError('the invite is damaged: copy the whole line');
  return {
    zone: String(zone),
    server: String(server),
    global: String(global),
    token: String(token),
    ...(sha256 !== undefined && { sha256: String(sha256) }),
  };
}

function decode(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Returns the certificates in a text, each with its SHA-256 in 64 hexadecimal digits. */
export function readCertificates(pem: string): readonly { readonly certificate: string; readonly sha256: string }[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)].map(([certificate]) => ({
    certificate: `${certificate}\n`,
    sha256: new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase(),
  }));
}

/** Formats a SHA-256 as `openssl x509 -fingerprint` and `causeway tokens ca` do. */
export function formatSha256(digits: string): string {
  return digits.toUpperCase().replace(/(..)(?=.)/g, '$1:');
}
