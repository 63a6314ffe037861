import { createHash } from 'node:crypto';
import type { JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../../context';
import { listed, outputOption, secondsOf, type SetExitCode } from '../../options';
import { printWarnings } from '../delete';
import { structured, textAt, textsAt, type Output } from '../../render';
import { claimsOf } from '../../settings/token-claims';
import { issuedTokens, listTokens, type ListTokensOptions, type TokenUse, type TokenUseOptions } from './list-tokens';

export interface ZoneTokenOptions {
  readonly validFor: string;
  readonly scope?: readonly string[];
  readonly output: Output;
}

export interface UserTokenOptions {
  readonly validFor: string;
  readonly group?: readonly string[];
  readonly output: Output;
}

/** `causeway tokens zone NAME`: prints only the token on standard output, fit for a file; id and expiry on standard error. */
export async function issueZoneToken(
  context: CommandContext,
  zone: string,
  options: ZoneTokenOptions,
): Promise<number> {
  const { scope } = options;
  const body = await issue(context, 'zone', { zone, ...(scope ? { scope: [...scope] } : {}) }, options);
  if (body) context.printError(`token ${textAt(body, 'id')} of zone ${zone}, valid until ${textAt(body, 'expiresAt')}`);
  return 0;
}

/** `causeway tokens user NAME`: as `causeway tokens zone`. */
export async function issueUserToken(
  context: CommandContext,
  name: string,
  options: UserTokenOptions,
): Promise<number> {
  const body = await issue(context, 'user', { name, groups: [...(options.group ?? [])] }, options);
  if (!body) return 0;
  const groups = textsAt(body, 'groups').join(', ') || 'no groups';
  const until = textAt(body, 'expiresAt');
  context.printError(`token ${textAt(body, 'id')} of user ${name} (${groups}), valid until ${until}`);
  return 0;
}

/** Prints a new token. Resolves with what the server says of it, unless that is printed too. */
async function issue(
  context: CommandContext,
  use: TokenUse,
  order: JsonObject,
  { validFor, output }: ZoneTokenOptions | UserTokenOptions,
): Promise<JsonObject | undefined> {
  const asked = { ...order, validFor: inServerUnits(validFor) };
  const body = await (await context.api()).rest.json({ method: 'POST', path: `/tokens/${use}`, body: asked });
  if (textAt(body, 'token') === '') throw new UsageError('the server answers with no token: is it a control plane?');
  context.print(output === 'table' ? textAt(body, 'token') : structured(body, output));
  return output === 'table' ? body : undefined;
}

/** A duration as the control plane reads it, which knows no weeks. */
function inServerUnits(duration: string): string {
  return duration.includes('w') ? `${secondsOf(duration, '--valid-for')}s` : duration;
}

/** `causeway tokens revoke ID`: by id, or by the token itself, of a user or of a zone. */
export async function revokeToken(
  context: CommandContext,
  idOrToken: string,
  options: TokenUseOptions,
): Promise<number> {
  const { id, use } = claimed(idOrToken) ?? { id: idOrToken, use: await useOf(context, idOrToken, options) };
  const { rest } = await context.api();
  const body = await rest.json({ method: 'POST', path: `/tokens/${use}/revocations`, body: { id } });
  context.print(`${use} token ${id} revoked`);
  printWarnings(context, textsAt(body, 'warnings'));
  return 0;
}

/** Id and use of a token by itself; undefined for what is no token. */
function claimed(token: string): { readonly id: string; readonly use: TokenUse } | undefined {
  if (token.split('.').length !== 3) return undefined;
  const claims = claimsOf(token);
  if (!claims || claims.id === '') throw new UsageError('this is neither the id of a token nor a token');
  return { id: claims.id, use: claims.isZoneToken ? 'zone' : 'user' };
}

/** What the token of an id is for: as the flags say, or as the control plane remembers. */
async function useOf(context: CommandContext, id: string, options: TokenUseOptions): Promise<TokenUse> {
  if (options.users !== options.zones) return options.users ? 'user' : 'zone';
  const found = (await issuedTokens(context, {})).find((token) => token['id'] === id);
  if (found) return found['type'] === 'zone' ? 'zone' : 'user';
  throw new UsageError(`no token has the id "${id}" (causeway tokens list); --users or --zones revokes it unseen`);
}

/** `causeway tokens rotate`: makes a newer signing key. Older keys are deleted by hand once their tokens are replaced. */
export async function rotateKey(context: CommandContext, { users = false }: TokenUseOptions): Promise<number> {
  const use: TokenUse = users ? 'user' : 'zone';
  const body = await (await context.api()).rest.json({ method: 'POST', path: `/tokens/${use}/keys` });
  context.print(`new ${use} tokens are signed with key ${textAt(body, 'serial')}; those of older keys stay valid`);
  context.printError(`to end the tokens of an older key: causeway delete globalsecrets ${use}-token-signing-key-N`);
  return 0;
}

/** `causeway tokens ca`: prints the certificate by which zones verify the global, for `CAUSEWAY_GLOBAL_CA_FILE`. */
export async function showAuthority(context: CommandContext): Promise<number> {
  const pem = await (await context.api()).rest.text({ path: '/kds/ca' });
  context.print(pem.trimEnd());
  context.printError(`SHA-256 ${fingerprint(pem)}`);
  return 0;
}

/** The fingerprint over the bytes of the certificate, as `openssl x509 -fingerprint` and browsers show it. */
function fingerprint(pem: string): string {
  const [, base64 = ''] = /-----BEGIN CERTIFICATE-----([^-]+)-----END/.exec(pem) ?? [];
  const digest = createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex').toUpperCase();
  return digest.replace(/(..)(?=.)/g, '$1:');
}

const VALID_FOR = 'such as 30d, 12h or 1h30m, at most 3650d';

/** `causeway tokens` and its subcommands. */
export function registerTokens(program: Command, context: CommandContext, finish: SetExitCode): void {
  const tokens = program
    .command('tokens')
    .description('tokens of users and zones, their keys, and the certificate of the global');
  tokens
    .command('user')
    .description('issues a token that shows who a user is; it is shown once')
    .argument('<name>', 'the user')
    .option('--group <group>', 'a group of the user; may be repeated', listed)
    .option('--valid-for <duration>', VALID_FOR, '24h')
    .addOption(outputOption())
    .action(async (name: string, options: UserTokenOptions) => finish(await issueUserToken(context, name, options)));
  tokens
    .command('zone')
    .description('issues a token that lets a zone in; it is shown once')
    .argument('<name>', 'the zone')
    .option('--valid-for <duration>', VALID_FOR, '30d')
    .option('--scope <scope...>', 'cp (the default), ingress, egress')
    .addOption(outputOption())
    .action(async (name: string, options: ZoneTokenOptions) => finish(await issueZoneToken(context, name, options)));
  tokens
    .command('list')
    .description('shows who has which token and until when, the first to expire first; never the tokens')
    .option('--users', 'only those of users')
    .option('--zones', 'only those of zones')
    .addOption(outputOption())
    .action(async (options: ListTokensOptions) => finish(await listTokens(context, options)));
  tokens
    .command('revoke')
    .description('revokes a token; who is connected with it is sent away at once')
    .argument('<id>', 'the id (jti) of the token, or the token')
    .option('--users', 'the id is that of a user')
    .option('--zones', 'the id is that of a zone')
    .action(async (id: string, options: TokenUseOptions) => finish(await revokeToken(context, id, options)));
  tokens
    .command('rotate')
    .description('makes a newer signing key of zone tokens, or with --users of user tokens')
    .option('--users', 'the key of user tokens')
    .action(async (options: TokenUseOptions) => finish(await rotateKey(context, options)));
  tokens
    .command('ca')
    .description('shows the certificate that zones verify the global by')
    .action(async () => finish(await showAuthority(context)));
}
