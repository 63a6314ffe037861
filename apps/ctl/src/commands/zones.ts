import type { JsonObject } from '@causeway/resources';
import type { CommandContext } from '../context';
import { objectAt, structured, table, textAt, type Output } from '../render';
import { listAt } from './get';
import { listAll } from './list-all';

export interface ZonesOptions {
  readonly output: Output;
}

/** `causeway zones`: how far each zone is, as the global knows it. */
export async function zones(context: CommandContext, options: ZonesOptions): Promise<number> {
  const items = await listAll(context.api(), { path: '/zones+insights' });
  if (options.output !== 'table') {
    context.print(structured({ items }, options.output));
    return 0;
  }
  if (items.length === 0) context.complain('no zones');
  else
    context.print(
      table(
        ['NAME', 'ENABLED', 'HEALTH', 'PEER', 'SESSION', 'LAG', 'REJECTED'],
        items.map((item) => row(item, context.now())),
      ),
    );
  return 0;
}

function row(item: JsonObject, now: number): string[] {
  const insight = objectAt(item, 'zoneInsight');
  const kinds = listAt(insight, 'kinds');
  const sessions = listAt(insight, 'sessions').map((session) => textAt(session, 'session'));
  const behind = kinds.flatMap((kind) => (typeof kind['behindSince'] === 'number' ? [now - kind['behindSince']] : []));
  const rejected = kinds.flatMap((kind) => listAt(kind, 'rejections'));
  return [
    textAt(item, 'name'),
    textAt(item, 'zone', 'enabled') || 'true',
    textAt(insight, 'health') || 'never joined',
    textAt(insight, 'peer'),
    [...new Set(sessions)].join(','),
    behind.length === 0 ? '0s' : `${Math.round(Math.max(...behind) / 1_000)}s`,
    String(rejected.length),
  ];
}
