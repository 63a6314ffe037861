import {
  getPolicyImpact,
  listAffectingPolicies,
  listPolicyScopes,
  previewPolicyImpact,
  type ImpactOnPath,
  type PolicyImpact,
} from '@causeway/api';
import { isJsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../../context';
import { readDocuments } from '../../documents';
import { meshOption, namespaceOption, outputOption, zoneOption, type SetExitCode } from '../../options';
import { inLines, joinGiven, structured, table, textAt, type Output } from '../../render';
import { fieldRows, pathText, policyText, restName, type PlaceOptions } from './policy-paths';

interface PolicyOptions extends PlaceOptions {
  readonly output: Output;
}

/** `causeway policies KIND/NAME`: every policy that affects a resource, path by path; requires no right on policies. */
async function policies(
  context: CommandContext,
  words: readonly string[],
  options: PolicyOptions & { readonly kind?: string },
): Promise<number> {
  const { path, query } = await restName(context, words, options);
  const { rest } = await context.api();
  const answer = await rest.call(listAffectingPolicies, { path, query: { ...query, kind: options.kind } });
  return print(context, answer, options.output, ({ items }) => {
    if (items.length === 0) return context.print('no policy affects it');
    for (const [i, item] of items.entries()) {
      if (i > 0) context.print('');
      context.print(`${item.kind} on ${pathText(item)}`);
      context.print(indent(table(['FIELD', 'VALUE', 'POLICY', 'STRATEGY'], fieldRows(item))));
      for (const { policy, state } of item.policies)
        if (state === 'Overridden') context.print(`  overridden: ${policyText(policy, false)}`);
    }
  });
}

/** `causeway scopes KIND/NAME`: the targets of a policy, its scopes, and the values in force there. */
async function scopes(context: CommandContext, words: readonly string[], options: PolicyOptions): Promise<number> {
  const name = await restName(context, words, options);
  const answer = await (await context.api()).rest.call(listPolicyScopes, name);
  return print(context, answer, options.output, ({ declared = [], count, items }) => {
    for (const { kind, name: of, sectionName, reason } of declared)
      context.print(`on ${kind} ${joinGiven([of || 'by labels', sectionName], ' ')}${reason ? `: ${reason}` : ''}`);
    context.print(`counts on ${count ?? ''} ${count === 1 ? 'path' : 'paths'}`);
    const rows = items.map((item) => [
      pathText(item),
      item.state,
      item.superseded.join(' ') || '-',
      item.others.map(({ policy }) => policyText(policy, false)).join(' ') || '-',
    ]);
    if (rows.length > 0) context.print(`\n${table(['PATH', 'STATE', 'SUPERSEDED', 'OTHERS'], rows)}`);
  });
}

/** `causeway impact KIND/NAME` or `-f FILE`: the changes if a policy were deleted, or a candidate written; nothing is written. */
async function impact(
  context: CommandContext,
  words: readonly string[],
  options: PolicyOptions & { readonly filename?: string },
): Promise<number> {
  const answer =
    options.filename === undefined ? await ofDeletion(context, words, options) : await ofFile(context, words, options);
  return print(context, answer, options.output, ({ total, policy, operation = '', items }) => {
    const what = policy ? policyText(policy) : '';
    context.print(`to ${operation} ${what} changes ${total} path${total === 1 ? '' : 's'}`);
    for (const item of items) {
      context.print(`\n${pathText(item)}`);
      context.print(indent(table(['FIELD', 'BEFORE', 'AFTER', 'BY'], [...changeRows(item)])));
    }
  });
}

async function ofDeletion(
  context: CommandContext,
  words: readonly string[],
  options: PolicyOptions,
): Promise<PolicyImpact> {
  const { path, query } = await restName(context, words, options);
  return (await context.api()).rest.call(getPolicyImpact, { path, query: { ...query, op: 'delete' } });
}

async function ofFile(
  context: CommandContext,
  words: readonly string[],
  options: PolicyOptions & { readonly filename?: string },
): Promise<PolicyImpact> {
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
  return (await context.api()).rest.call(previewPolicyImpact, { path, query, body: value });
}

/** Yields the fields that differ, with the policy that will set each. */
function* changeRows({ before, after }: ImpactOnPath): Generator<readonly string[]> {
  const [was, becomes] = [before, after].map(
    (side) => new Map((side ? fieldRows(side) : []).map((row) => [row[0] ?? '', row])),
  );
  for (const field of new Set([...(was?.keys() ?? []), ...(becomes?.keys() ?? [])])) {
    const [old, next] = [was?.get(field), becomes?.get(field)];
    if (old?.[1] !== next?.[1]) yield [field, old?.[1] ?? '-', next?.[1] ?? '-', next?.[2] ?? '-'];
  }
}

/** Prints an answer as data, or in words with each of its texts in one line. */
function print<T extends { readonly total: number; readonly items: readonly unknown[] }>(
  context: CommandContext,
  answer: T,
  output: Output,
  inWords: (answer: T) => void,
): number {
  if (output !== 'table') {
    context.print(structured(answer, output));
    return 0;
  }
  inWords(inLines(answer));
  const more = answer.total - answer.items.length;
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
