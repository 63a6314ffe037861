import { describeServer, listZoneOverviews, type ZoneOverview } from '@causeway/api';
import type { CommandContext } from '../../context';
import { inLines, structured, table, textAt, type Output } from '../../render';
import { readAbsence, pendingDecisions, seconds, sumInsight } from './zone-insight';
import type { Command } from 'commander';
import { outputOption, type SetExitCode } from '../../options';
import { registerZoneDecisions } from './zone-decisions';
import { registerZoneInvites } from './zone-invites';

export interface ZonesOptions {
  readonly output: Output;
}

const HEAD = [
  'NAME',
  'ENABLED',
  'HEALTH',
  'PEER',
  'VERSION',
  'SESSION',
  'INSTANCE',
  'TOKEN ENDS',
  'LAG',
  'REJECTED',
  'HELD',
];

/** `causeway zones`: session, lag and rejections of each zone. A zone knows only itself. */
export async function zones(context: CommandContext, options: ZonesOptions): Promise<number> {
  const items = await (await context.api()).rest.items(listZoneOverviews);
  if (options.output !== 'table') {
    context.print(structured({ items }, options.output));
    return 0;
  }
  const asked = await zoneOfServer(context);
  const [shown, now] = [inLines(items), context.now()];
  const rows = shown.map((item) => row(item, asked, now));
  if (rows.length === 0) context.printError('no zones');
  else context.print(table(HEAD, rows));
  for (const { name, zoneInsight = {} } of shown) {
    const away = readAbsence(zoneInsight, now);
    if (away) context.printError(`zone ${name}: ${away.line}`);
    const zone = asked === undefined ? name : undefined;
    if (zoneInsight.token?.notRenewed) context.printError(`its token is not renewed: ${zoneInsight.token.notRenewed}`);
    for (const line of pendingDecisions(zoneInsight, zone, now)) context.printError(line);
  }
  if (asked !== undefined) context.printError(`this is zone ${asked}: how far the others are, the global knows`);
  return 0;
}

/** Returns the zone of the control plane that answers; undefined for the global. */
export async function zoneOfServer(context: CommandContext): Promise<string | undefined> {
  const { mode, zone = '' } = inLines(await (await context.api()).rest.call(describeServer));
  return mode === 'zone' ? zone : undefined;
}

function row({ name, zone, zoneInsight = {} }: ZoneOverview, asked: string | undefined, now: number): string[] {
  const { health, peer = '', version, globalVersion = '', sessions = [], token } = zoneInsight;
  const { lag, waiting, rejected, held } = sumInsight(zoneInsight);
  const away = readAbsence(zoneInsight, now);
  const behind = waiting === 0 ? seconds(lag) : `${seconds(lag)} (${waiting})`;
  return [
    name,
    textAt(zone, 'enabled') || 'true',
    health || (asked === undefined ? 'never joined' : 'unknown here'),
    peer,
    version || globalVersion,
    distinct(sessions.map(({ session }) => String(session))),
    distinct(sessions.map(({ zoneInstanceId = '' }) => zoneInstanceId)),
    token ? new Date(token.expiresAt).toISOString() : '',
    // The lag of a zone that is offline is unknown.
    ...(health ? (away ? [`away ${away.age}`, '-', '-'] : [behind, String(rejected), String(held)]) : []),
  ];
}

function distinct(texts: readonly string[]): string {
  return [...new Set(texts)].join(',');
}

/** `causeway zones` and its subcommands. */
export function registerZones(program: Command, context: CommandContext, finish: SetExitCode): void {
  const command = program
    .command('zones')
    .description('shows how far each zone is: session, lag, rejects, versions; and what only an operator can decide')
    .addOption(outputOption())
    .action(async (options: ZonesOptions) => finish(await zones(context, options)));
  registerZoneInvites(command, context, finish);
  registerZoneDecisions(command, context, finish);
}
