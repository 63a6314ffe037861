import { lookUpName } from '@causeway/api';
import { isJsonArray, type JsonObject } from '@causeway/resources';
import type { CommandContext } from '../../context';
import { structured, table, textAt, type Output, listAt } from '../../render';
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
  if (options.output === 'table') digInWords(context, body);
  else context.print(structured(body, options.output));
  return listAt(body, 'answers').length > 0 ? 0 : 1;
}

function digInWords(context: CommandContext, body: JsonObject): void {
  const asked = `${textAt(body, 'name')} ${textAt(body, 'type')} in zone ${textAt(body, 'zone')}`;
  context.print(`${asked}: ${textAt(body, 'result')}; ${textAt(body, 'reason')}`);
  const upstreams = body['upstreams'];
  if (isJsonArray(upstreams))
    context.print(`forwarded to ${upstreams.filter((each) => typeof each === 'string').join(', ')}`);
  const answers = listAt(body, 'answers');
  if (answers.length > 0) {
    const rows = answers.map((a) => [textAt(a, 'name'), textAt(a, 'ttl'), textAt(a, 'type'), textAt(a, 'data')]);
    context.print(table(['NAME', 'TTL', 'TYPE', 'DATA'], rows));
  }
  const holders = listAt(body, 'holders');
  if (holders.length < 2) return;
  const rows = holders.map((h) => [
    textAt(h, 'answers') === 'true' ? 'yes' : 'no',
    ...['mesh', 'kind', 'zone', 'namespace', 'name', 'vip'].map((key) => textAt(h, key)),
  ]);
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
