import { dataplaneTokens, userTokens, zoneTokens } from '@causeway/api';
import { ApiError, type ApiClient } from '@causeway/api-client';
import type { Colour } from '../../colour';
import type { CommandContext } from '../../context';
import { inLines, structured, table, type Output } from '../../render';
import { expiryText, type TokenKind } from '../../settings/token-claims';

/** The types of tokens that a command works with; without any: all types. */
export interface TokenUseOptions {
  readonly users?: boolean;
  readonly zones?: boolean;
  readonly dataplanes?: boolean;
}

export interface ListTokensOptions extends TokenUseOptions {
  readonly output: Output;
}

const USES: readonly TokenKind[] = ['user', 'zone', 'dataplane'];
const HEAD = ['TYPE', 'NAME', 'GROUPS', 'SCOPE', 'ID', 'ISSUED BY', 'EXPIRES', 'STATE'];

/** `causeway tokens list`: the holders and expiries of tokens, in order of expiry; never the tokens themselves. */
export async function listTokens(context: CommandContext, options: ListTokensOptions): Promise<number> {
  const items = await issuedTokens(context, options);
  if (options.output !== 'table') context.print(structured({ items }, options.output));
  else if (items.length === 0) context.printError('no tokens were issued');
  else
    context.print(
      table(
        HEAD,
        inLines(items).map((item) => toRow(context, item)),
      ),
    );
  return 0;
}

/** Returns the types that the options select; all if they select none. */
export function chosenUses({ users, zones, dataplanes }: TokenUseOptions): readonly TokenKind[] {
  const named = { user: users, zone: zones, dataplane: dataplanes };
  const chosen = USES.filter((use) => named[use] === true);
  return chosen.length === 0 ? USES : chosen;
}

/** The operations of each type of token. */
export const TOKENS = { user: userTokens, zone: zoneTokens, dataplane: dataplaneTokens };

/** A token in the lists of all types; fields that a type lacks are absent. */
interface TokenOfAnySort {
  readonly id: string;
  readonly issuedAt: string;
  readonly expiresAt: string;
  readonly issuedBy: string;
  readonly revoked: boolean;
  readonly name?: string | undefined;
  readonly groups?: readonly string[];
  readonly zone?: string;
  readonly scope?: readonly string[];
  readonly mesh?: string;
  readonly workload?: string | undefined;
  readonly tags?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A token with its type. */
export interface TypedToken extends TokenOfAnySort {
  readonly type: TokenKind;
}

const LISTS: Readonly<Record<TokenKind, (rest: ApiClient['rest']) => Promise<readonly TokenOfAnySort[]>>> = {
  user: (rest) => rest.items(userTokens.list),
  zone: (rest) => rest.items(zoneTokens.list),
  dataplane: (rest) => rest.items(dataplaneTokens.list),
};

/**
 * Returns the tokens of a control plane with their `type`. If several types are requested, a zone has no zone tokens and a global none of Dataplanes.
 */
export async function issuedTokens(context: CommandContext, options: TokenUseOptions): Promise<readonly TypedToken[]> {
  const { rest } = await context.api();
  const chosen = chosenUses(options);
  const lists = chosen.map(async (type) => {
    const items = await LISTS[type](rest).catch((error: unknown) => {
      if (chosen.length > 1 && error instanceof ApiError && error.code === 'not-found') return [];
      throw error;
    });
    return items.map((item) => ({ type, ...item }));
  });
  return (await Promise.all(lists)).flat().sort((a, b) => readEnd(a) - readEnd(b));
}

function toRow({ now, paint }: CommandContext, token: TypedToken): string[] {
  const state = findState(token, now());
  return [
    token.type,
    token.name || token.zone || token.workload || '',
    (token.groups ?? []).join(', '),
    [...(token.scope ?? []), ...listGrants(token)].join(', '),
    token.id,
    token.issuedBy,
    expiryText({ expiresAt: readEnd(token) }, now()).replace(/^expires /, ''),
    paint(COLOURS[state], state),
  ];
}

/** Returns the grants of a dataplane token, besides its name. */
function listGrants({ mesh, workload, tags = {} }: TypedToken): readonly string[] {
  const facts = [mesh && `mesh=${mesh}`, workload && `workload=${workload}`].filter((fact) => fact !== undefined);
  return [...facts, ...Object.entries(tags).map(([tag, values]) => `${tag}=${values.join('|')}`)].filter(Boolean);
}

const COLOURS = {
  valid: 'green',
  'expires soon': 'yellow',
  expired: 'red',
  revoked: 'red',
} as const satisfies Readonly<Record<string, Colour>>;

/** Returns the state of a token: it expires soon in the last fifth of its validity, a long one in its last week. */
function findState(token: TypedToken, now: number): keyof typeof COLOURS {
  if (token.revoked) return 'revoked';
  const left = readEnd(token) - now;
  if (left <= 0) return 'expired';
  const life = readEnd(token) - Date.parse(token.issuedAt);
  return left < Math.min(life / 5, WEEK) ? 'expires soon' : 'valid';
}

/** ms. */
const WEEK = 7 * 24 * 3_600_000;

function readEnd({ expiresAt }: Pick<TypedToken, 'expiresAt'>): number {
  return Date.parse(expiresAt);
}
