import { createHash } from 'node:crypto';
import { dataplaneTokens, showZoneAuthority, userTokens, zoneTokens, type AnswerOf } from '@causeway/api';
import { formatJoinBundle } from '@causeway/identity';
import { ApiError } from '@causeway/api-client';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../../context';
import { listed, meshOption, outputOption, parseSeconds, type SetExitCode } from '../../options';
import { printWarnings } from '../delete';
import { inLines, structured, type Output } from '../../render';
import { tokenCommandAtGlobal } from '../proxies/bootstrap';
import { decodeClaims, type TokenKind } from '../../settings/token-claims';
import { findJoinPlace, printGivenBundle, refuseWithoutBundle, type BundleOptions } from './join-bundle';
import {
  chosenUses,
  issuedTokens,
  listTokens,
  TOKENS,
  type ListTokensOptions,
  type TokenUseOptions,
} from './list-tokens';

export interface ZoneTokenOptions extends BundleOptions {
  readonly validFor?: string;
  readonly scope?: readonly string[];
  /** `false`: the zone cannot renew it. */
  readonly renew?: boolean;
  /** For a bundle: a token of the global, instead of a new one of this zone. */
  readonly tokenFile?: string;
}

export interface UserTokenOptions {
  readonly validFor: string;
  readonly group?: readonly string[];
  readonly output: Output;
}

/**
 * `causeway tokens zone NAME`: prints only the token on standard output, suitable for a file; id and expiry on standard error. With `--bundle` a join
 * bundle for the agent of an ingress.
 */
export async function issueZoneToken(
  context: CommandContext,
  zone: string,
  options: ZoneTokenOptions,
): Promise<number> {
  const { bundle = false, tokenFile, validFor = TOKEN_VALIDITY, output } = options;
  refuseWithoutBundle(options);
  const place = bundle ? await findJoinPlace(context, options, zone) : undefined;
  if (place && tokenFile !== undefined) return printGivenBundle(context, place, options);
  const scope = options.scope ?? (bundle ? ['ingress'] : undefined);
  // A global of an older version refuses the field.
  const order = {
    zone,
    ...(scope ? { scope: [...scope] } : {}),
    ...(options.renew === false ? { renew: false } : {}),
  };
  const printed = (token: string): string => (place ? formatJoinBundle({ ...place, mesh: '', token }) : token);
  const { rest } = await context.api();
  const body = { ...order, validFor: inServerUnits(validFor) };
  const issued = await rest.call(zoneTokens.issue, { body }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'not-found') throw error;
    const command = tokenCommandAtGlobal(zone, scope);
    const then = bundle ? 'then --token-file FILE' : 'or --server URL';
    throw new UsageError(`the global issues the tokens of this zone: ${command} (${then})`, { cause: error });
  });
  printIssued(context, issued, { output, printed, of: `of zone ${zone}` });
  return 0;
}

/** `causeway tokens user NAME`: like `causeway tokens zone`. */
export async function issueUserToken(
  context: CommandContext,
  name: string,
  options: UserTokenOptions,
): Promise<number> {
  const { output, group = [], validFor } = options;
  const body = { name, groups: group, validFor: inServerUnits(validFor) };
  const issued = await (await context.api()).rest.call(userTokens.issue, { body });
  const groups = inLines(issued.groups).join(', ') || 'no groups';
  printIssued(context, issued, { output, of: `of user ${name} (${groups})` });
  return 0;
}

export interface DataplaneTokenOptions extends BundleOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly workload?: string;
  /** `false`: the host serves nothing. */
  readonly service?: readonly string[] | false;
  readonly machines?: string;
  readonly tag?: readonly string[];
  readonly validFor?: string;
}

/** The validity of a token in a bundle: it is for joining; afterwards the agent has a certificate. */
const BUNDLE_VALIDITY = '1h';
/** The control plane's default. */
const DEFAULT_MACHINES = 100;
const TOKEN_VALIDITY = '30d';

/** `causeway tokens dataplane [NAME]`: like `causeway tokens zone`; without a mesh it is for the one that the control plane expects. */
export async function issueDataplaneToken(
  context: CommandContext,
  name: string | undefined,
  options: DataplaneTokenOptions,
): Promise<number> {
  const { workload, tag = [], bundle = false, namespace, service, machines } = options;
  const { validFor = bundle ? BUNDLE_VALIDITY : TOKEN_VALIDITY, output } = options;
  refuseWithoutBundle(options);
  if (bundle && service === undefined)
    throw new UsageError('--bundle needs --service SERVICE for each service of the machine, or --no-service');
  const mesh = options.mesh || (await (await context.api()).rest.expectedMesh());
  const body = {
    mesh,
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(workload === undefined ? {} : { workload }),
    ...(service === undefined ? {} : { services: parseServices(service) }),
    ...(machines === undefined ? {} : { machines: Number(machines) }),
    ...(tag.length === 0 ? {} : { tags: parseTags(tag) }),
    validFor: inServerUnits(validFor),
  };
  const place = bundle ? await findJoinPlace(context, options) : undefined;
  const printed = (token: string): string => (place ? formatJoinBundle({ ...place, mesh, token }) : token);
  const issued = await (await context.api()).rest.call(dataplaneTokens.issue, { body });
  printIssued(context, issued, { output, printed, of: `of mesh ${mesh} (${grantText(name, options)})` });
  return 0;
}

/** Returns the services of a flag; empty with `--no-service`. */
function parseServices(service: readonly string[] | false): readonly string[] {
  return service === false ? [] : service.flatMap((one) => one.split(','));
}

/** Describes the holder of a token. */
function grantText(name: string | undefined, options: DataplaneTokenOptions): string {
  const { namespace = 'default', workload, service, machines } = options;
  const parts = [
    name === undefined ? undefined : `Dataplane ${name}`,
    workload === undefined ? undefined : `workload ${workload}`,
    namespace === 'default' ? undefined : `namespace ${namespace}`,
    service === undefined ? undefined : `serves ${parseServices(service).join(', ') || 'nothing'}`,
    name === undefined && workload !== undefined ? `at most ${machines ?? DEFAULT_MACHINES} machines` : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(', ') || 'every Dataplane';
}

/** Parses `key=value,value` of each tag. */
function parseTags(given: readonly string[]): Readonly<Record<string, string[]>> {
  const tags: Record<string, string[]> = {};
  for (const one of given) {
    const [tag = '', values] = [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)];
    if (!one.includes('=') || tag === '' || values === '')
      throw new UsageError(`"${one}" is no tag; write KEY=VALUE, or KEY=VALUE,VALUE`);
    tags[tag] = [...(tags[tag] ?? []), ...values.split(',')];
  }
  return tags;
}

/** Prints a new token; on standard error its id and expiry, unless the whole answer was printed. */
function printIssued(
  context: CommandContext,
  issued: Pick<AnswerOf<typeof userTokens.issue>, 'token' | 'id' | 'expiresAt'>,
  how: { readonly output: Output; readonly of: string; readonly printed?: (token: string) => string },
): void {
  const { output, of, printed = (token) => token } = how;
  if (output !== 'table') return context.print(structured(issued, output));
  const { token, id, expiresAt } = inLines(issued);
  context.print(printed(token));
  context.printError(`token ${id} ${of}, valid until ${expiresAt}`);
}

/** Returns a duration in units of the control plane, which knows no weeks. */
function inServerUnits(duration: string): string {
  return duration.includes('w') ? `${parseSeconds(duration, '--valid-for')}s` : duration;
}

/** `causeway tokens revoke ID`: by id, or by the token itself; of a user, a zone or a Dataplane. */
export async function revokeToken(
  context: CommandContext,
  idOrToken: string,
  options: TokenUseOptions,
): Promise<number> {
  const { id, use } = claimed(idOrToken) ?? { id: idOrToken, use: await findUse(context, idOrToken, options) };
  const { warnings = [] } = await (await context.api()).rest.call(TOKENS[use].revoke, { body: { id } });
  context.print(`${use} token ${id} revoked`);
  printWarnings(context, warnings);
  return 0;
}

/** Returns id and type from a token itself; undefined for other texts. */
function claimed(token: string): { readonly id: string; readonly use: TokenKind } | undefined {
  if (token.split('.').length !== 3) return undefined;
  const claims = decodeClaims(token);
  if (!claims || claims.id === '') throw new UsageError('this is neither the id of a token nor a token');
  return { id: claims.id, use: claims.use };
}

/** Returns the type of the token with an id: from the flags, or from the control plane's records. */
async function findUse(context: CommandContext, id: string, options: TokenUseOptions): Promise<TokenKind> {
  const [only, ...others] = chosenUses(options);
  if (only !== undefined && others.length === 0) return only;
  const found = (await issuedTokens(context, options)).find((token) => token.id === id);
  if (found) return found.type;
  throw new UsageError(
    `no token has the id "${id}" (causeway tokens list); --users, --zones or --dataplanes revokes it although it is not on record`,
  );
}

/** `causeway tokens rotate`: creates a newer signing key. Older keys are deleted by hand once their tokens are replaced. */
export async function rotateKey(context: CommandContext, options: TokenUseOptions): Promise<number> {
  const use: TokenKind = options.dataplanes ? 'dataplane' : options.users ? 'user' : 'zone';
  const { serial } = await (await context.api()).rest.call(TOKENS[use].rotate);
  context.print(`new ${use} tokens are signed with key ${serial}; those of older keys stay valid`);
  context.printError(`to end the tokens of an older key: causeway delete globalsecrets ${use}-token-signing-key-N`);
  return 0;
}

/** `causeway tokens ca`: prints the certificate by which zones verify the global, for `CAUSEWAY_GLOBAL_CA_FILE`. */
export async function showAuthority(context: CommandContext): Promise<number> {
  const pem = await (await context.api()).rest.text(showZoneAuthority);
  context.print(pem.trimEnd());
  context.printError(`SHA-256 ${fingerprint(pem)}`);
  return 0;
}

/** Returns the fingerprint of a certificate in the format of `openssl x509 -fingerprint` and browsers. */
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
    .description('tokens of users, zones and Dataplanes, their keys, and the certificate of the global');
  registerIssuing(tokens, context, finish);
  tokens
    .command('list')
    .description('shows who has which token and until when, the first to expire first; never the tokens')
    .option('--users', 'only those of users')
    .option('--zones', 'only those of zones')
    .option('--dataplanes', 'only those of Dataplanes')
    .addOption(outputOption())
    .action(async (options: ListTokensOptions) => finish(await listTokens(context, options)));
  tokens
    .command('revoke')
    .description('revokes a token; who is connected with it is sent away at once')
    .argument('<id>', 'the id (jti) of the token, or the token')
    .option('--users', 'the id is that of a user')
    .option('--zones', 'the id is that of a zone')
    .option('--dataplanes', 'the id is that of a Dataplane')
    .action(async (id: string, options: TokenUseOptions) => finish(await revokeToken(context, id, options)));
  tokens
    .command('rotate')
    .description('makes a newer signing key of zone tokens, or of those of users or Dataplanes')
    .option('--users', 'the key of user tokens')
    .option('--dataplanes', 'the key of dataplane tokens')
    .action(async (options: TokenUseOptions) => finish(await rotateKey(context, options)));
  tokens
    .command('ca')
    .description('shows the certificate that zones verify the global by')
    .action(async () => finish(await showAuthority(context)));
}

/** Registers the subcommands that issue tokens. */
function registerIssuing(tokens: Command, context: CommandContext, finish: SetExitCode): void {
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
    .description('issues a token that lets a zone in, or its ingress and egress; it is shown once')
    .argument('<name>', 'the zone')
    .option('--valid-for <duration>', `${VALID_FOR} (default: ${TOKEN_VALIDITY})`)
    .option('--scope <scope...>', 'cp (the default; of a bundle ingress), ingress, egress')
    .option('--no-renew', 'the control plane of the zone cannot renew it')
    .option(
      '--bundle',
      "print what causeway-agent ingress joins with: the token, and where the zone's control planes are",
    )
    .option('--token-file <file>', 'with --bundle: a token that the global has issued')
    .option('--xds <host:port>', 'with --bundle: where the control planes are reached; several by commas', listed)
    .option('--xds-ca-file <file>', 'with --bundle: certificates (PEM) that verify them')
    .addOption(outputOption())
    .action(async (name: string, options: ZoneTokenOptions) => finish(await issueZoneToken(context, name, options)));
  registerDataplaneTokens(tokens, context, finish);
}

/** `causeway tokens dataplane`. */
function registerDataplaneTokens(tokens: Command, context: CommandContext, finish: SetExitCode): void {
  tokens
    .command('dataplane')
    .description(
      'issues a token that shows which Dataplanes a proxy may be; of the control plane of a zone, shown once',
    )
    .argument('[name]', 'the Dataplane; none: any new one of a group of machines, with --workload and --service')
    .addOption(meshOption())
    .option('-n, --namespace <namespace>', 'the namespace of the Dataplane (default: default)')
    .option('--service <service...>', 'a service that it may serve (default: one of its own name)')
    .option('--no-service', 'it serves nothing')
    .option('--workload <workload>', 'the workload: needed where it comes from the label kuma.io/workload')
    .option(
      '--machines <number>',
      `without a name: how many machines may be there at once (default: ${DEFAULT_MACHINES})`,
    )
    .option('--tag <tag>', 'KEY=VALUE,...: a tag of the Dataplane; may be repeated', (value, before: string[] = []) => [
      ...before,
      value,
    ])
    .option('--valid-for <duration>', `${VALID_FOR} (default: ${TOKEN_VALIDITY}, of a bundle ${BUNDLE_VALIDITY})`)
    .option('--bundle', 'print what causeway-agent joins with: the token, and where the control planes are')
    .option('--xds <host:port>', 'with --bundle: where the control planes are reached; several by commas', listed)
    .option('--xds-ca-file <file>', 'with --bundle: certificates (PEM) that verify them')
    .addOption(outputOption())
    .action(async (name: string | undefined, options: DataplaneTokenOptions) =>
      finish(await issueDataplaneToken(context, name, options)),
    );
}
