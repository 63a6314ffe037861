import { dataplaneTokens, userTokens, zoneTokens } from '@causeway/api';
import { ApiError, type ApiClient } from '@causeway/api-client';
import type { Colour } from '../../colour';
import type { CommandContext } from '../../context';
import { inLines, structured, table, type Output } from '../../render';
import { expiryText, type TokenKind } from '../../settings/token-claims';

/** Which tokens a command is about; none of them: all sorts. */
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

/** `causeway tokens list`: who has which token until when, the first to expire first; never the tokens. */
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

/** The sorts that the options name; all where they name none. */
export function chosenUses({ users, zones, dataplanes }: TokenUseOptions): readonly TokenKind[] {
  const named = { user: users, zone: zones, dataplane: dataplanes };
  const chosen = USES.filter((use) => named[use] === true);
  return chosen.length === 0 ? USES : chosen;
}

/** The operations of the tokens of each sort. */
export const TOKENS = { user: userTokens, zone: zoneTokens, dataplane: dataplaneTokens };

/** A token as the lists of all sorts show it; what a sort does not have is absent. */
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

/** A token of any sort. */
export interface TypedToken extends TokenOfAnySort {
  readonly type: TokenKind;
}

const LISTS: Readonly<Record<TokenKind, (rest: ApiClient['rest']) => Promise<readonly TokenOfAnySort[]>>> = {
  user: (rest) => rest.items(userTokens.list),
  zone: (rest) => rest.items(zoneTokens.list),
  dataplane: (rest) => rest.items(dataplaneTokens.list),
};

/** The tokens of a control plane with their `type`. Asked for several sorts, a zone has no zone tokens, a global none of Dataplanes. */
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

/** A token expires soon in the last fifth of its life, a long one in its last week. */
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
