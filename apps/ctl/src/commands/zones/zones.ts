import type { JsonObject } from '@causeway/resources';
import type { CommandContext } from '../../context';
import { objectAt, structured, table, textAt, type Output, listAt } from '../../render';
import { readAbsence, pendingDecisions, seconds, sumInsight } from './zone-insight';
import type { Command } from 'commander';
import { outputOption, type SetExitCode } from '../../options';
import { registerZoneDecisions } from './zone-decisions';

export interface ZonesOptions {
  readonly output: Output;
}

const HEAD = ['NAME', 'ENABLED', 'HEALTH', 'PEER', 'VERSION', 'SESSION', 'INSTANCE', 'LAG', 'REJECTED', 'HELD'];

/** `causeway zones`: session, lag and rejections of each zone. On a zone it knows only itself. */
export async function zones(context: CommandContext, options: ZonesOptions): Promise<number> {
  const items = await (await context.api()).rest.items({ path: '/zones+insights' });
  if (options.output !== 'table') {
    context.print(structured({ items }, options.output));
    return 0;
  }
  const asked = await zoneOfServer(context);
  if (items.length === 0) context.printError('no zones');
  else
    context.print(
      table(
        HEAD,
        items.map((item) => row(item, asked, context.now())),
      ),
    );
  for (const item of items) {
    const insight = objectAt(item, 'zoneInsight');
    const zone = asked === undefined ? textAt(item, 'name') : undefined;
    const away = readAbsence(insight, context.now());
    if (away) context.printError(`zone ${textAt(item, 'name')}: ${away.line}`);
    for (const line of pendingDecisions(insight, zone, context.now())) context.printError(line);
  }
  if (asked !== undefined) context.printError(`this is zone ${asked}: how far the others are, the global knows`);
  return 0;
}

/** The zone of the control plane that answers; undefined for the global. */
export async function zoneOfServer(context: CommandContext): Promise<string | undefined> {
  const body = await (await context.api()).rest.json({ path: '/' });
  return body['mode'] === 'zone' ? textAt(body, 'zone') : undefined;
}

function row(item: JsonObject, asked: string | undefined, now: number): string[] {
  const insight = objectAt(item, 'zoneInsight');
  const sessions = listAt(insight, 'sessions');
  const { lag, waiting, rejected, held } = sumInsight(insight);
  const known = textAt(insight, 'health') !== '';
  const unknown = asked === undefined ? 'never joined' : 'unknown here';
  const away = readAbsence(insight, now);
  const behind = waiting === 0 ? seconds(lag) : `${seconds(lag)} (${waiting})`;
  return [
    textAt(item, 'name'),
    textAt(item, 'zone', 'enabled') || 'true',
    textAt(insight, 'health') || unknown,
    textAt(insight, 'peer'),
    textAt(insight, 'version') || textAt(insight, 'globalVersion'),
    distinct(sessions.map((session) => textAt(session, 'session'))),
    distinct(sessions.map((session) => textAt(session, 'zoneInstanceId'))),
    // The lag of a zone that is offline is unknown.
    ...(known ? (away ? [`away ${away.age}`, '-', '-'] : [behind, String(rejected), String(held)]) : []),
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
  registerZoneDecisions(command, context, finish);
}
