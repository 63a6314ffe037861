import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import type { CommandContext } from '../../context';
import { serviceName, structured, table, textAt, type Output, listAt } from '../../render';
import type { Command } from 'commander';
import { meshOption, outputOption, type SetExitCode } from '../../options';

export interface ExplainOptions {
  readonly mesh: string;
  readonly zone?: string;
  readonly output: Output;
}

/** `causeway explain HOSTNAME`: which services claim it, which one wins by which rule, and what would have to change. */
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
  explainInWords(context, body);
  return 0;
}

function explainInWords(context: CommandContext, body: JsonObject): void {
  const place = `mesh ${textAt(body, 'mesh')}, seen from zone ${textAt(body, 'zone')}`;
  const claims = listAt(body, 'claims');
  if (claims.length === 0) {
    context.print(`nobody claims ${textAt(body, 'hostname')} (${place})`);
    const hints = body['hints'];
    if (isJsonArray(hints)) for (const hint of hints) if (typeof hint === 'string') context.print(`  ${hint}`);
    return;
  }
  context.print(`${textAt(body, 'hostname')} (${place})`);
  const rows = claims.map((c) => [
    textAt(c, 'rank'),
    serviceName(c),
    generatorName(c),
    textAt(c, 'status'),
    textAt(c, 'rule'),
  ]);
  context.print(table(['RANK', 'SERVICE', 'GENERATOR', 'STATUS', 'LOST BY'], rows));
  for (const claim of claims) {
    const why = textAt(claim, 'change') || textAt(claim, 'reason');
    if (why !== '') context.print(`\n${serviceName(claim)}: ${why}`);
  }
}

function generatorName(claim: JsonObject): string {
  const zone = textAt(claim, 'generator', 'zone');
  return `${textAt(claim, 'generator', 'name')} (${zone === '' ? 'global' : zone})`;
}

/** `causeway explain`. */
export function registerExplain(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('explain')
    .description('says who claims a hostname, who has it, and why')
    .argument('<hostname>')
    .addOption(meshOption())
    .option('-z, --zone <zone>', 'whose view; needed on the global')
    .addOption(outputOption())
    .action(async (hostname: string, options: ExplainOptions) => finish(await explain(context, hostname, options)));
}
