import type { JsonObject } from '@causeway/resources';
import type { CommandContext } from '../context';
import { objectAt, structured, table, textAt, type Output } from '../render';
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
      table(['NAME', 'ENABLED', 'STATUS', 'SESSION', 'INSTANCE', 'VERSION', 'LAG', 'REJECTED'], items.map(row)),
    );
  return 0;
}

function row(item: JsonObject): string[] {
  const zone = { ...item, ...objectAt(item, 'zone') };
  const insight = objectAt(item, 'zoneInsight');
  const fact = (key: string): string => textAt(insight, key);
  return [
    textAt(zone, 'name'),
    textAt(zone, 'spec', 'enabled') || 'true',
    fact('status'),
    fact('session'),
    fact('instance'),
    fact('version'),
    fact('lag'),
    fact('rejected'),
  ];
}
