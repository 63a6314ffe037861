import { isJsonObject } from '@causeway/resources';
import type { CommandContext } from '../context';
import { structured, table, textAt, type Output } from '../render';
import { listAt } from './get';

export interface ExplainOptions {
  readonly mesh: string;
  readonly zone?: string;
  readonly output: Output;
}

/** `causeway explain HOSTNAME`: who claims it, who wins, by which rule, and what would have to change. */
export async function explain(context: CommandContext, hostname: string, options: ExplainOptions): Promise<number> {
  const { body } = await context.api().send({
    method: 'POST',
    path: '/_explain/hostname',
    query: { zone: options.zone },
    body: { hostname, mesh: options.mesh },
  });
  if (!isJsonObject(body)) return 1;
  if (options.output !== 'table') {
    context.print(structured(body, options.output));
    return 0;
  }
  const claims = listAt(body, 'claims');
  if (claims.length === 0) context.print(`nobody claims ${hostname} in mesh ${options.mesh}`);
  else {
    const rows = claims.map((c) => [
      textAt(c, 'rank'),
      textAt(c, 'service'),
      textAt(c, 'generator'),
      textAt(c, 'rule'),
    ]);
    context.print(table(['RANK', 'SERVICE', 'GENERATOR', 'RULE'], rows));
  }
  return 0;
}
