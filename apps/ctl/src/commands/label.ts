import type { ResourceRef } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../context';
import { meshOption, type SetExitCode } from '../options';
import { parseRefs, formatTitle } from '../refs';
import { objectAt, textAt } from '../render';
import { selectedResources } from '../selected-resources';
import { printWarnings } from './delete';

export interface LabelOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly selector?: string;
  readonly overwrite?: boolean;
  readonly dryRun?: boolean;
}

/** Labels to set; null removes a label. */
type LabelChanges = Readonly<Record<string, string | null>>;

/** `causeway label`: sets and removes labels; the exit code is 0 if it succeeded for all resources. */
export async function label(context: CommandContext, words: readonly string[], options: LabelOptions): Promise<number> {
  const changes = parseChanges(words);
  const named = words.filter((word) => !isChange(word));
  const refs = await chosen(context, named, options);
  if (refs.length === 0) context.printError('nothing matches: nothing was labelled');
  let failures = 0;
  for (const ref of refs) if (!(await labelOne(context, ref, { ...options, changes }))) failures++;
  return failures === 0 ? 0 : 1;
}

/** Reports whether a word is `key=value` or `key-`. Names of resources contain no `=` and end with no hyphen. */
function isChange(word: string): boolean {
  return word.includes('=') || word.endsWith('-');
}

function parseChanges(words: readonly string[]): LabelChanges {
  const changes = words.filter(isChange).map((word): [string, string | null] => {
    const equals = word.indexOf('=');
    return equals < 0 ? [word.slice(0, -1), null] : [word.slice(0, equals), word.slice(equals + 1)];
  });
  if (changes.length === 0) throw new UsageError('name the labels: KEY=VALUE sets one, KEY- removes one');
  return Object.fromEntries(changes);
}

async function chosen(
  context: CommandContext,
  words: readonly string[],
  options: LabelOptions,
): Promise<readonly ResourceRef[]> {
  if (options.selector === undefined) return parseRefs(context.registry, words, options);
  const [noun, ...names] = words;
  if (noun === undefined || names.length > 0) throw new UsageError('-l needs a kind and no names');
  return selectedResources(context, noun, { ...options, selector: options.selector });
}

async function labelOne(
  context: CommandContext,
  ref: ResourceRef,
  { changes, overwrite, dryRun }: LabelOptions & { readonly changes: LabelChanges },
): Promise<boolean> {
  const api = await context.api();
  const { document, etag } = await api.get(ref);
  const before = objectAt(document, 'labels');
  const taken = overwrite ? undefined : overwritten(before, changes);
  if (taken !== undefined) {
    context.printError(`${formatTitle(ref)}: has ${taken}=${textAt(before, taken)} already; --overwrite changes it`);
    return false;
  }
  const labels = Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null));
  const next = { ...document, labels };
  const { outcome, warnings } = await api.replace(ref, next, { etag, dryRun: dryRun === true });
  context.print(
    `${formatTitle(ref)} ${outcome === 'unchanged' ? 'unchanged' : 'labelled'}${dryRun ? ' (dry run)' : ''}`,
  );
  printWarnings(context, warnings);
  return true;
}

/** Returns the first label with an existing, different value. */
function overwritten(before: JsonObject, changes: LabelChanges): string | undefined {
  return Object.entries(changes).find(
    ([key, value]) => value !== null && Object.hasOwn(before, key) && before[key] !== value,
  )?.[0];
}

/** `causeway label`. */
export function registerLabel(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('label')
    .description('sets and removes labels of resources')
    .argument('<words...>', 'KIND/NAME... or KIND NAME..., then KEY=VALUE sets a label and KEY- removes one')
    .option('-l, --selector <labels>', 'the resources of a kind that carry these labels')
    .option('--overwrite', 'change labels that have another value now')
    .option('--dry-run', 'check everything, write nothing')
    .addOption(meshOption())
    .option('-n, --namespace <namespace>')
    .action(async (words: string[], options: LabelOptions) => finish(await label(context, words, options)));
}
