import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../../context';
import { readDocuments } from '../../documents';
import { meshOption, namespaceOption, outputOption, zoneOption, type SetExitCode } from '../../options';
import { listAt, objectAt, structured, table, textAt, textsAt, type Output } from '../../render';
import { fieldRows, pathText, policyText, restName, type PlaceOptions } from './policy-paths';

interface PolicyOptions extends PlaceOptions {
  readonly output: Output;
}

/** `causeway policies KIND/NAME`: every policy that affects a resource, path by path; without a right on any policy. */
async function policies(
  context: CommandContext,
  words: readonly string[],
  options: PolicyOptions & { readonly kind?: string },
): Promise<number> {
  const { path, query } = await restName(context, words, options);
  const answer = await ask(context, `${path}/_policies`, { ...query, kind: options.kind });
  return print(context, answer, options.output, () => {
    const items = listAt(answer, 'items');
    if (items.length === 0) return context.print('no policy affects it');
    for (const [i, item] of items.entries()) {
      if (i > 0) context.print('');
      context.print(`${textAt(item, 'kind')} on ${pathText(item)}`);
      context.print(indent(table(['FIELD', 'VALUE', 'POLICY', 'STRATEGY'], fieldRows(item))));
      const beaten = listAt(item, 'policies').filter((one) => textAt(one, 'state') === 'Overridden');
      for (const one of beaten) context.print(`  overridden: ${policyText(objectAt(one, 'policy'), false)}`);
    }
  });
}

/** `causeway scopes KIND/NAME`: what a policy names, where it counts, and what of it survives there. */
async function scopes(context: CommandContext, words: readonly string[], options: PolicyOptions): Promise<number> {
  const { path, query } = await restName(context, words, options);
  const answer = await ask(context, `${path}/_scopes`, query);
  return print(context, answer, options.output, () => {
    for (const target of listAt(answer, 'declared')) {
      const [kind, name, section, reason] = ['kind', 'name', 'sectionName', 'reason'].map((key) => textAt(target, key));
      context.print(
        `on ${kind} ${[name || 'by labels', section].filter(Boolean).join(' ')}${reason ? `: ${reason}` : ''}`,
      );
    }
    const count = textAt(answer, 'count');
    context.print(`counts on ${count} ${count === '1' ? 'path' : 'paths'}`);
    const rows = listAt(answer, 'items').map((item) => [
      pathText(item),
      textAt(item, 'state'),
      textsAt(item, 'superseded').join(' ') || '-',
      listAt(item, 'others')
        .map((one) => policyText(objectAt(one, 'policy'), false))
        .join(' ') || '-',
    ]);
    if (rows.length > 0) context.print(`\n${table(['PATH', 'STATE', 'SUPERSEDED', 'OTHERS'], rows)}`);
  });
}

/** `causeway impact KIND/NAME` or `-f FILE`: what deleting a policy, or writing a candidate, would change; nothing is written. */
async function impact(
  context: CommandContext,
  words: readonly string[],
  options: PolicyOptions & { readonly filename?: string },
): Promise<number> {
  const answer =
    options.filename === undefined ? await ofDeletion(context, words, options) : await ofFile(context, words, options);
  return print(context, answer, options.output, () => {
    const total = Number(textAt(answer, 'total'));
    const policy = policyText(objectAt(answer, 'policy'));
    context.print(`to ${textAt(answer, 'operation')} ${policy} changes ${total} path${total === 1 ? '' : 's'}`);
    for (const item of listAt(answer, 'items')) {
      context.print(`\n${pathText(item)}`);
      const rows = [...changeRows(item)];
      context.print(indent(table(['FIELD', 'BEFORE', 'AFTER', 'BY'], rows)));
    }
  });
}

async function ofDeletion(
  context: CommandContext,
  words: readonly string[],
  options: PolicyOptions,
): Promise<JsonObject> {
  const { path, query } = await restName(context, words, options);
  return ask(context, `${path}/_impact`, { ...query, op: 'delete' });
}

async function ofFile(
  context: CommandContext,
  words: readonly string[],
  options: PolicyOptions & { readonly filename?: string },
): Promise<JsonObject> {
  if (words.length > 0) throw new UsageError('-f takes kind and name from the file: leave them out');
  const [document, more] = await readDocuments([options.filename ?? ''], context.stdin);
  const value = document?.value;
  if (more || !isJsonObject(value)) throw new UsageError('impact takes one document');
  const [kind, name] = [
    textAt(value, 'type') || textAt(value, 'kind'),
    textAt(value, 'name') || textAt(value, 'metadata', 'name'),
  ];
  const namespace = textAt(value, 'namespace') || textAt(value, 'metadata', 'namespace') || options.namespace;
  const mesh = textAt(value, 'mesh') || options.mesh;
  const place = { mesh, ...(namespace === undefined ? {} : { namespace }) };
  const { path, query } = await restName(context, [kind, name], place);
  const { rest } = await context.api();
  return rest.json({ method: 'POST', path: `${path}/_impact`, query, body: value });
}

/** The fields that differ, and whose value each will be. */
function* changeRows(item: JsonObject): Generator<readonly string[]> {
  const [before, after] = ['before', 'after'].map(
    (side) => new Map(fieldRows(objectAt(item, side)).map((row) => [row[0] ?? '', row])),
  );
  for (const field of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])) {
    const [was, becomes] = [before?.get(field), after?.get(field)];
    if (was?.[1] !== becomes?.[1]) yield [field, was?.[1] ?? '-', becomes?.[1] ?? '-', becomes?.[2] ?? '-'];
  }
}

async function ask(
  context: CommandContext,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): Promise<JsonObject> {
  return (await context.api()).rest.json({ path, query });
}

function print(context: CommandContext, answer: JsonObject, output: Output, inWords: () => void): number {
  if (output !== 'table') {
    context.print(structured(answer, output));
    return 0;
  }
  inWords();
  const more = Number(textAt(answer, 'total')) - listAt(answer, 'items').length;
  if (more > 0) context.print(`\nand ${more} more`);
  return 0;
}

const indent = (text: string): string => text.replace(/^/gm, '  ');

function policyCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .argument('[words...]', 'KIND/NAME or KIND NAME')
    .addOption(meshOption())
    .addOption(namespaceOption())
    .addOption(zoneOption())
    .addOption(outputOption());
}

/** `causeway policies`. */
export function registerPolicies(program: Command, context: CommandContext, finish: SetExitCode): void {
  policyCommand(
    program,
    'policies',
    'says which policies affect a resource, what they come to, and whose each value is',
  )
    .option('-k, --kind <kind>', 'only policies of this kind')
    .action(async (words: string[], options: PolicyOptions) => finish(await policies(context, words, options)));
}

/** `causeway scopes`. */
export function registerScopes(program: Command, context: CommandContext, finish: SetExitCode): void {
  policyCommand(program, 'scopes', 'says where a policy counts and what of it survives there').action(
    async (words: string[], options: PolicyOptions) => finish(await scopes(context, words, options)),
  );
}

/** `causeway impact`. */
export function registerImpact(program: Command, context: CommandContext, finish: SetExitCode): void {
  policyCommand(program, 'impact', 'says what deleting a policy, or with -f writing one, would change; writes nothing')
    .option('-f, --filename <path>', 'a file with the policy as it would be, or -')
    .action(async (words: string[], options: PolicyOptions) => finish(await impact(context, words, options)));
}
