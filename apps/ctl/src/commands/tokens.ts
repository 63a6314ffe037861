import { createHash } from 'node:crypto';
import { isJsonObject } from '@causeway/resources';
import { UsageError, type CommandContext } from '../context';
import { secondsOf } from '../durations';
import { structured, textAt, type Output } from '../render';
import type { Command } from 'commander';
import { outputOption, type SetExitCode } from '../options';

export interface ZoneTokenOptions {
  readonly validFor: string;
  readonly scope?: readonly string[];
  readonly output: Output;
}

/** `causeway tokens zone NAME`: prints only the token on standard output, fit for a file; id and expiry on standard error. */
export async function issueZoneToken(
  context: CommandContext,
  zone: string,
  options: ZoneTokenOptions,
): Promise<number> {
  const { validFor, scope } = options;
  const order = { zone, validFor: inHours(validFor), ...(scope ? { scope } : {}) };
  const { body } = await context.api().send({ method: 'POST', path: '/tokens/zone', body: order });
  if (!isJsonObject(body)) return 1;
  if (options.output !== 'table') {
    context.print(structured(body, options.output));
    return 0;
  }
  context.print(textAt(body, 'token'));
  context.printError(`token ${textAt(body, 'id')} of zone ${zone}, valid until ${textAt(body, 'expiresAt')}`);
  return 0;
}

/** A duration as the control plane reads it, which knows no days and weeks. */
function inHours(duration: string): string {
  return /[dw]/.test(duration) ? `${secondsOf(duration, '--valid-for')}s` : duration;
}

/** `causeway tokens revoke ID`: by id, or by the token itself. */
export async function revokeZoneToken(context: CommandContext, idOrToken: string): Promise<number> {
  const id = idOrToken.split('.').length === 3 ? idOf(idOrToken) : idOrToken;
  await context.api().send({ method: 'POST', path: '/tokens/zone/revocations', body: { id } });
  context.print(`zone token ${id} revoked`);
  return 0;
}

/** `causeway tokens rotate`: makes a newer signing key. Older keys are deleted by hand once their tokens are replaced. */
export async function rotateZoneTokenKey(context: CommandContext): Promise<number> {
  const { body } = await context.api().send({ method: 'POST', path: '/tokens/zone/keys' });
  const serial = isJsonObject(body) ? textAt(body, 'serial') : '';
  context.print(`new zone tokens are signed with key ${serial}; those of older keys stay valid`);
  context.printError('to end the tokens of an older key: causeway delete globalsecrets zone-token-signing-key-N');
  return 0;
}

/** `causeway tokens ca`: prints the certificate by which zones verify the global, for `CAUSEWAY_GLOBAL_CA_FILE`. */
export async function showAuthority(context: CommandContext): Promise<number> {
  const pem = await context.api().text({ method: 'GET', path: '/kds/ca' });
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

function idOf(token: string): string {
  const claims: unknown = parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  const id = isJsonObject(claims) ? textAt(claims, 'jti') : '';
  if (id === '') throw new UsageError('this is neither the id of a zone token nor a zone token');
  return id;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `causeway tokens` and its subcommands. */
export function registerTokens(program: Command, context: CommandContext, finish: SetExitCode): void {
  const tokens = program
    .command('tokens')
    .description('how zones join the global: tokens, their keys, its certificate');
  tokens
    .command('zone')
    .description('issues a token that lets a zone in; it is shown once')
    .argument('<name>', 'the zone')
    .option('--valid-for <duration>', 'such as 30d, 12h or 1h30m, at most 3650d', '30d')
    .option('--scope <scope...>', 'cp (the default), ingress, egress')
    .addOption(outputOption())
    .action(async (name: string, options: ZoneTokenOptions) => finish(await issueZoneToken(context, name, options)));
  tokens
    .command('revoke')
    .description('revokes a token; its zone is sent away at once')
    .argument('<id>', 'the id (jti) of the token, or the token')
    .action(async (id: string) => finish(await revokeZoneToken(context, id)));
  tokens
    .command('rotate')
    .description('makes a newer signing key')
    .action(async () => finish(await rotateZoneTokenKey(context)));
  tokens
    .command('ca')
    .description('shows the certificate that zones verify the global by')
    .action(async () => finish(await showAuthority(context)));
}
