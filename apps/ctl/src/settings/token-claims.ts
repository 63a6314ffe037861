import { isJsonObject, type JsonObject } from '@causeway/resources';
import { age, textAt } from '../render';

/** The type of a token. */
export type TokenKind = 'user' | 'zone' | 'dataplane';

/** Claims of a token. They are not verified: only the server can do that. */
export interface ShownClaims {
  readonly id: string;
  /** The user, the zone, or the Dataplane. */
  readonly subject: string;
  readonly use: TokenKind;
  /** Its expiry, ms since 1970; undefined if it does not expire. */
  readonly expiresAt: number | undefined;
}

/** Decodes the claims of a JWT; undefined for other tokens. */
export function decodeClaims(token: string): ShownClaims | undefined {
  const parts = token.split('.');
  const claims = parts.length === 3 ? parse(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8')) : undefined;
  if (!isJsonObject(claims)) return undefined;
  const { exp } = claims;
  return {
    id: textAt(claims, 'jti'),
    ...readSubject(claims),
    expiresAt: typeof exp === 'number' ? exp * 1_000 : undefined,
  };
}

function readSubject(claims: JsonObject): Pick<ShownClaims, 'subject' | 'use'> {
  const zone = textAt(claims, 'Zone') || textAt(claims, 'zone');
  if (zone !== '') return { subject: `zone ${zone}`, use: 'zone' };
  const mesh = textAt(claims, 'Mesh');
  if (mesh !== '') {
    const who = textAt(claims, 'Name') || textAt(claims, 'Workload');
    return { subject: `Dataplanes of mesh ${mesh}${who === '' ? '' : ` (${who})`}`, use: 'dataplane' };
  }
  return { subject: textAt(claims, 'Name') || textAt(claims, 'email') || textAt(claims, 'sub'), use: 'user' };
}

/** Describes a token for people: its holder and expiry, never the token itself. */
export function describeToken(token: string | undefined, now: number): string {
  if (token === undefined) return '';
  const claims = decodeClaims(token);
  if (!claims) return 'opaque';
  return [claims.subject, expiryText(claims, now)].filter((part) => part !== '').join(', ');
}

/** Formats the expiry of a token, for people: `expires in 29d`, `expired 3h ago`. */
export function expiryText({ expiresAt }: Pick<ShownClaims, 'expiresAt'>, now: number): string {
  if (expiresAt === undefined) return 'does not expire';
  const since = (from: number, to: number): string => age(new Date(from).toISOString(), to);
  return expiresAt > now ? `expires in ${since(now, expiresAt)}` : `expired ${since(expiresAt, now)} ago`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
