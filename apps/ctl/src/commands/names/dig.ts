import { lookUpName, type DnsLookup } from '@causeway/api';
import type { CommandContext } from '../../context';
import { inLines, structured, table, type Output } from '../../render';
import type { Command } from 'commander';
import { outputOption, type SetExitCode } from '../../options';

export interface DigOptions {
  readonly output: Output;
}

/**
 * `causeway dig NAME [TYPE]`: the answer that the zone's DNS server would give, and the reason. The exit code is 0 if there are records and 1 if
 * there are none.
 */
export async function dig(
  context: CommandContext,
  question: { readonly name: string; readonly type: string | undefined },
  options: DigOptions,
): Promise<number> {
  const query = { name: question.name, type: question.type };
  const body = await (await context.api()).rest.call(lookUpName, { query });
  if (options.output === 'table') digInWords(context, inLines(body));
  else context.print(structured(body, options.output));
  return body.answers.length > 0 ? 0 : 1;
}

function digInWords(context: CommandContext, explained: DnsLookup): void {
  const { name, type, zone, result, reason, upstreams, answers, holders } = explained;
  context.print(`${name} ${type} in zone ${zone}: ${result}; ${reason}`);
  if (upstreams) context.print(`forwarded to ${upstreams.join(', ')}`);
  if (answers.length > 0) {
    const rows = answers.map((record) => [record.name, String(record.ttl), record.type, record.data]);
    context.print(table(['NAME', 'TTL', 'TYPE', 'DATA'], rows));
  }
  if (holders.length < 2) return;
  const rows = holders.map((holder) => {
    const { mesh, kind, namespace, vip } = holder;
    return [holder.answers ? 'yes' : 'no', mesh, kind, holder.zone, namespace, holder.name, vip];
  });
  context.print(table(['ANSWERS', 'MESH', 'KIND', 'ZONE', 'NAMESPACE', 'NAME', 'VIP'], rows));
}

/** `causeway dig`. */
export function registerDig(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('dig')
    .description("says what a zone's DNS answers to a name, and why")
    .argument('<name>', 'a name, or an address: who has it')
    .argument('[type]', 'A (default), AAAA, SRV, TXT, PTR, …')
    .addOption(outputOption())
    .action(async (name: string, type: string | undefined, options: DigOptions) =>
      finish(await dig(context, { name, type }, options)),
    );
}
