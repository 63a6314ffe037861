import { hostname } from 'node:os';
import { showAuthority, showConfig, zoneInvites } from '@causeway/api';
import { ApiError, type ApiClient } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../../context';
import { listed, outputOption, type SetExitCode } from '../../options';
import { inLines, structured, table, type Output } from '../../render';
import { parseServer } from '../../settings/connection';
import { formatInvite, formatSha256, readCertificates, type InviteLine } from './invite-line';

/** Options that name the global as other machines reach it. */
interface GlobalAddresses {
  /** Its REST interface, `https://HOST:PORT`. */
  readonly address?: string;
  /** The address at which zones join it, `grpcs://HOST:PORT`. */
  readonly kds?: readonly string[];
}

/** `causeway zones invite ZONE`: prints the invite alone on standard output; whom it is for and until when on standard error. */
async function invite(context: CommandContext, zone: string, options: GlobalAddresses): Promise<number> {
  const api = await context.api();
  const settings = await api.rest.call(showConfig);
  const server = findServer(api.server, settings, options.address);
  const sha256 = await findSha256(api, server);
  const global = findGlobalAddress(server, settings, options.kds);
  const { token, id, expiresAt } = await api.rest.call(zoneInvites.issue, { body: { zone } });
  const line: InviteLine = {
    zone,
    server: withoutSlash(server),
    global,
    token,
    ...(sha256 !== undefined && { sha256 }),
  };
  context.print(formatInvite(line));
  const verified = `verified by ${sha256 === undefined ? "the machine's own authorities" : `SHA-256 ${formatSha256(sha256)}`}`;
  const trust = server.protocol === 'http:' ? 'without TLS on this machine' : verified;
  context.printError(`invite ${id} of zone ${zone}, for one use, valid until ${inLines(expiresAt)}`);
  context.printError(`it asks ${line.server}, ${trust}; the zone joins ${global}`);
  return 0;
}

/** Returns the address of the REST interface for other machines. Throws UsageError for one that could be read or changed in between. */
function findServer(asked: URL, settings: JsonObject, given: string | undefined): URL {
  const here = `https://${hostname()}:${Number(settings['CAUSEWAY_REST_PORT'] ?? 0)}`;
  const text = given ?? (asked.protocol === 'unix:' ? here : asked.href);
  const server = parseServer(text);
  if (server?.protocol === 'https:' || (server?.protocol === 'http:' && isLoopback(server))) return server;
  throw new UsageError(`"${text}" is no address of REST over TLS; name it: --address https://HOST:PORT`);
}

/** Whether an address is one of the machine itself, where nobody is in between. */
export function isLoopback({ hostname: host }: URL): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(host);
}

/** Returns the SHA-256 of the authority of REST; undefined if the server has none of its own, or no TLS. */
async function findSha256(api: ApiClient, server: URL): Promise<string | undefined> {
  if (server.protocol !== 'https:') return undefined;
  const pem = await api.rest.text(showAuthority).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not-found') return '';
    throw error;
  });
  return readCertificates(pem)[0]?.sha256;
}

/** Returns where zones join the global, for `CAUSEWAY_GLOBAL_ADDRESS`: as given, else the host of REST with the port of the settings. */
export function findGlobalAddress(server: URL, settings: JsonObject, given: readonly string[] | undefined): string {
  if (given && given.length > 0) return given.join(',');
  const port = Number(settings['CAUSEWAY_KDS_PORT'] ?? 0);
  if (port === 0) throw new UsageError('name where zones join the global: --kds grpcs://HOST:PORT');
  const scheme = settings['CAUSEWAY_KDS_TLS'] === 'off' ? 'grpc' : 'grpcs';
  return `${scheme}://${server.hostname}:${port}`;
}

function withoutSlash({ href }: URL): string {
  return href.replace(/\/$/, '');
}

interface InvitesOptions {
  readonly revoke?: string;
  readonly output: Output;
}

/** `causeway zones invites`: the invites of the last week, never the tokens; with `--revoke` ends one. */
async function invites(context: CommandContext, { revoke, output }: InvitesOptions): Promise<number> {
  const { rest } = await context.api();
  if (revoke !== undefined) {
    const { warnings = [] } = await rest.call(zoneInvites.revoke, { body: { id: revoke } });
    context.print(`invite ${revoke} revoked`);
    for (const warning of inLines(warnings)) context.printError(`warning: ${warning}`);
    return 0;
  }
  const items = await rest.items(zoneInvites.list);
  if (output !== 'table') context.print(structured({ items }, output));
  else if (items.length === 0) context.printError('no invites');
  else
    context.print(
      table(
        ['ZONE', 'ID', 'STATE', 'UNTIL', 'BY'],
        inLines(items).map(({ zone, id, revoked, expiresAt, issuedBy }) => {
          const state = revoked ? 'used or revoked' : Date.parse(expiresAt) > context.now() ? 'open' : 'expired';
          return [zone, id, state, expiresAt, issuedBy];
        }),
      ),
    );
  return 0;
}

/** `causeway zones invite` and `causeway zones invites`. */
export function registerZoneInvites(zones: Command, context: CommandContext, finish: SetExitCode): void {
  addressOptions(
    zones
      .command('invite')
      .description(
        'prints one line by which `causeway zone init --invite` gets the token of a zone: once, within 10 minutes',
      )
      .argument('<zone>', 'the zone'),
  ).action(async (zone: string, options: GlobalAddresses) => finish(await invite(context, zone, options)));
  zones
    .command('invites')
    .description('shows the invites of the last week; never the tokens')
    .option('--revoke <id>', 'ends the invite of this id')
    .addOption(outputOption())
    .action(async (options: InvitesOptions) => finish(await invites(context, options)));
}

/** Adds the options that name the global as other machines reach it. */
function addressOptions(command: Command): Command {
  return command
    .option('--address <url>', 'the REST interface as the machine of the zone reaches it (default: as it is asked)')
    .option(
      '--kds <url>',
      'where the zone joins, grpcs://HOST:PORT; several by commas (default: the same host)',
      listed,
    );
}
