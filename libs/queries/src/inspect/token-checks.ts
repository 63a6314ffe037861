import type { ListedToken } from '@causeway/access';
import type { Finding } from '@causeway/api';
import type { DoctorCheck } from './doctor-checks';

/** Inputs of the checks of tokens and keys. */
export interface TokenCheckInput {
  /** Recorded tokens, by their use. */
  readonly tokens: Readonly<Record<'user' | 'zone', readonly ListedToken[]>>;
  /** Unusable stored keys and certificates. */
  readonly keyFaults: readonly string[];
  /** ms since 1970. */
  readonly now: number;
}

/** A token expires soon if less than this is left, ms, or less than this part of its validity, whichever is shorter. */
const EXPIRY_WARNING = 7 * 24 * 3_600_000;
const SOON_PART = 1 / 10;

/** Checks for tokens that expire soon, and for keys that sign and verify them. */
export function tokenChecks({ tokens, keyFaults, now }: TokenCheckInput): readonly DoctorCheck[] {
  return [
    {
      name: 'tokens',
      *findings() {
        yield* ending(tokens.user, 'name', now, (name) => `user token of "${name}"`);
        yield* ending(tokens.zone, 'zone', now, (zone) => `zone token of zone ${zone}`);
      },
    },
    {
      name: 'keys',
      *findings() {
        const advice = 'make a new key (causeway tokens rotate) or a new certificate, and delete the one at fault';
        for (const what of keyFaults) yield { what: `cannot be used: ${what}`, advice };
      },
    },
  ];
}

/** Yields tokens that expire soon if their holder has no later one; `holder` is the fact that names the holder. */
function* ending(
  tokens: readonly ListedToken[],
  holder: 'name' | 'zone',
  now: number,
  called: (holder: string) => string,
): Iterable<Finding | undefined> {
  const last = new Map<string, ListedToken>();
  for (const token of tokens) {
    yield undefined;
    const name = token.facts[holder];
    if (token.revoked || token.expiresAt <= now || typeof name !== 'string') continue;
    if (token.expiresAt >= (last.get(name)?.expiresAt ?? 0)) last.set(name, token);
  }
  for (const [name, { id, issuedAt, expiresAt }] of last) {
    const isSoon = expiresAt - now <= Math.min(EXPIRY_WARNING, (expiresAt - issuedAt) * SOON_PART);
    const command = holder === 'name' ? 'user' : 'zone';
    yield isSoon
      ? {
          what: `the ${called(name)} (${id}) ends at ${new Date(expiresAt).toISOString()}, and there is no later one`,
          advice: `where it is still needed: causeway tokens ${command} ${/^[\w.@-]+$/.test(name) ? name : JSON.stringify(name)}`,
        }
      : undefined;
  }
}
