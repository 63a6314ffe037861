import { ApiError } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import type { Colour } from '../../colour';
import type { CommandContext } from '../../context';
import { structured, table, textAt, textsAt, type Output } from '../../render';
import { expiryText } from '../../settings/token-claims';

/** What a token is for. */
export type TokenUse = 'user' | 'zone';

/** Which tokens a command is about; neither: both sorts. */
export interface TokenUseOptions {
  readonly users?: boolean;
  readonly zones?: boolean;
}

export interface ListTokensOptions extends TokenUseOptions {
  readonly output: Output;
}

const USES: readonly TokenUse[] = ['user', 'zone'];
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
        items.map((item) => rowOf(context, item)),
      ),
    );
  return 0;
}

/** The tokens of a control plane with their `type`. Asked for both sorts, a zone has none of those that let zones in. */
export async function issuedTokens(
  context: CommandContext,
  { users = false, zones = false }: TokenUseOptions,
): Promise<readonly JsonObject[]> {
  const { rest } = await context.api();
  const chosen = USES.filter((use) => users === zones || (use === 'user' ? users : zones));
  const lists = chosen.map(async (type) => {
    const items = await rest.items({ path: `/tokens/${type}` }).catch((error: unknown) => {
      if (chosen.length > 1 && error instanceof ApiError && error.code === 'not-found') return [];
      throw error;
    });
    return items.map((item) => ({ type, ...item }));
  });
  return (await Promise.all(lists)).flat().sort((a, b) => endOf(a) - endOf(b));
}

function rowOf({ now, paint }: CommandContext, token: JsonObject): string[] {
  const state = stateOf(token, now());
  return [
    ...[textAt(token, 'type'), textAt(token, 'name') || textAt(token, 'zone')],
    ...[
      textsAt(token, 'groups').join(', '),
      textsAt(token, 'scope').join(', '),
      textAt(token, 'id'),
      textAt(token, 'issuedBy'),
    ],
    ...[expiryText({ expiresAt: endOf(token) }, now()).replace(/^expires /, ''), paint(COLOURS[state], state)],
  ];
}

const COLOURS = {
  valid: 'green',
  'expires soon': 'yellow',
  expired: 'red',
  revoked: 'red',
} as const satisfies Readonly<Record<string, Colour>>;

/** A token expires soon in the last fifth of its life, a long one in its last week. */
function stateOf(token: JsonObject, now: number): keyof typeof COLOURS {
  if (token['revoked'] === true) return 'revoked';
  const left = endOf(token) - now;
  if (left <= 0) return 'expired';
  const life = endOf(token) - Date.parse(textAt(token, 'issuedAt'));
  return left < Math.min(life / 5, WEEK) ? 'expires soon' : 'valid';
}

/** ms. */
const WEEK = 7 * 24 * 3_600_000;

function endOf(token: JsonObject): number {
  return Date.parse(textAt(token, 'expiresAt'));
}
