import { ApiError } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import type { Colour } from '../../colour';
import type { CommandContext } from '../../context';
import { objectAt, structured, table, textAt, textsAt, type Output } from '../../render';
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
        items.map((item) => rowOf(context, item)),
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

/** The tokens of a control plane with their `type`. Asked for several sorts, a zone has no zone tokens, a global none of Dataplanes. */
export async function issuedTokens(context: CommandContext, options: TokenUseOptions): Promise<readonly JsonObject[]> {
  const { rest } = await context.api();
  const chosen = chosenUses(options);
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
    textAt(token, 'type'),
    textAt(token, 'name') || textAt(token, 'zone') || textAt(token, 'workload'),
    textsAt(token, 'groups').join(', '),
    [...textsAt(token, 'scope'), ...bindingOf(token)].join(', '),
    textAt(token, 'id'),
    textAt(token, 'issuedBy'),
    expiryText({ expiresAt: endOf(token) }, now()).replace(/^expires /, ''),
    paint(COLOURS[state], state),
  ];
}

/** Returns the grants of a dataplane token, besides its name. */
function bindingOf(token: JsonObject): readonly string[] {
  const facts = ['mesh', 'workload'].flatMap((fact) =>
    textAt(token, fact) === '' ? [] : [`${fact}=${textAt(token, fact)}`],
  );
  const tags = objectAt(token, 'tags');
  return [...facts, ...Object.keys(tags).map((tag) => `${tag}=${textsAt(tags, tag).join('|')}`)];
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
