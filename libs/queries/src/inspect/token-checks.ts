import type { ListedToken } from '@causeway/access';
import type { Finding } from '@causeway/api';
import { isJsonObject } from '@causeway/resources';
import type { DoctorCheck, ZoneWithInsight } from './doctor-checks';

/** Inputs of the checks of tokens and keys. */
export interface TokenCheckInput {
  /** Recorded tokens, by their use. */
  readonly tokens: Readonly<Record<'user' | 'zone', readonly ListedToken[]>>;
  /** Zones with what is known of their tokens. */
  readonly zones: readonly ZoneWithInsight[];
  /** Unusable stored keys and certificates. */
  readonly keyFaults: readonly string[];
  /** ms since 1970. */
  readonly now: number;
}

/** A token expires soon if less than this is left, ms, or less than this part of its validity, whichever is shorter. */
const EXPIRY_WARNING = 7 * 24 * 3_600_000;
const SOON_PART = 1 / 10;

/** Checks for tokens that expire soon, and for keys that sign and verify them. */
export function tokenChecks({ tokens, zones, keyFaults, now }: TokenCheckInput): readonly DoctorCheck[] {
  return [
    {
      name: 'tokens',
      *findings() {
        yield* ending(tokens.user, 'name', now, (name) => `user token of "${name}"`);
        yield* ending(tokens.zone, 'zone', now, (zone) => `zone token of zone ${zone}`);
        yield* contested(tokens.zone);
        yield* notRenewed(zones);
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

/** Yields zone tokens that two holders renewed or showed. */
function* contested(tokens: readonly ListedToken[]): Iterable<Finding | undefined> {
  for (const { id, facts, line = id, contestedAt, revoked } of tokens) {
    const zone = typeof facts['zone'] === 'string' ? facts['zone'] : '';
    yield contestedAt === undefined || revoked
      ? undefined
      : {
          what: `the zone token of zone ${zone} (${id}) was renewed by two holders, or shown after its end, at ${formatTime(contestedAt)}: it may be stolen`,
          advice: `unless the store of the zone was set back: causeway tokens revoke ${line}, then causeway tokens zone ${zone}`,
        };
  }
}

/** Yields tokens of zones that were to be renewed and were not. */
function* notRenewed(zones: readonly ZoneWithInsight[]): Iterable<Finding | undefined> {
  for (const { zone, insight } of zones) {
    const token = isJsonObject(insight['token']) ? insight['token'] : {};
    const { id, expiresAt, notRenewed: reason } = token;
    yield typeof id !== 'string' || typeof expiresAt !== 'number' || typeof reason !== 'string'
      ? undefined
      : {
          what: `the zone token of zone ${zone.id.name} (${id}) ends at ${formatTime(expiresAt)} and is not renewed: ${reason}`,
          advice: `on the global: causeway tokens zone ${zone.id.name}, into the file that CAUSEWAY_ZONE_TOKEN_FILE of the zone names`,
        };
  }
}

function formatTime(time: number): string {
  return new Date(time).toISOString();
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
          what: `the ${called(name)} (${id}) ends at ${formatTime(expiresAt)}, and there is no later one`,
          advice: `where it is still needed: causeway tokens ${command} ${/^[\w.@-]+$/.test(name) ? name : JSON.stringify(name)}`,
        }
      : undefined;
  }
}
