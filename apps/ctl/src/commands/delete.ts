import { createInterface } from 'node:readline/promises';
import { ApiError, ConnectionError, type ResourceRef } from '@causeway/api-client';
import { escapedLine, isJsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../context';
import { formatApiError } from '../control-plane';
import { readDocuments } from '../documents';
import { meshOption, nouns, type SetExitCode } from '../options';
import { asked } from '../printer';
import { readRef, parseRefs, formatTitle, readType } from '../refs';
import { textAt } from '../render';
import { selectedResources } from '../selected-resources';

export interface DeleteOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly filename?: readonly string[];
  readonly selector?: string;
  readonly dryRun?: boolean;
  readonly terminate?: boolean;
  readonly force?: boolean;
  readonly ignoreNotFound?: boolean;
  readonly yes?: boolean;
}

/** `causeway delete`: tries every resource; the exit code is 0 if all were deleted. */
export async function remove(
  context: CommandContext,
  words: readonly string[],
  options: DeleteOptions,
): Promise<number> {
  const doomed = await chosen(context, words, options);
  if (doomed.length === 0) {
    context.printError('nothing matches: nothing was deleted');
    return 0;
  }
  if (!(await agreed(context, doomed, options))) {
    context.printError('nothing was deleted');
    return 1;
  }
  return (await removeAll(context, doomed, options)) === 0 ? 0 : 1;
}

/** Returns the resources that words, files or labels select; those of files in reverse order, because later ones may need earlier ones. */
async function chosen(
  context: CommandContext,
  words: readonly string[],
  options: DeleteOptions,
): Promise<readonly ResourceRef[]> {
  const { filename, selector } = options;
  if (
    (filename ? 1 : 0) + (selector === undefined ? 0 : 1) + (words.length > 1 || words[0]?.includes('/') ? 1 : 0) !==
    1
  )
    throw new UsageError('name what is deleted in one way: KIND NAME..., KIND/NAME..., KIND -l LABELS, or -f FILE');
  if (filename) {
    if (words.length > 0) throw new UsageError('-f takes kinds and names from the files: leave the kind out');
    return (await fromFiles(context, filename, options)).reverse();
  }
  if (selector === undefined) return parseRefs(context.registry, words, options);
  const [noun] = words;
  if (noun === undefined) throw new UsageError('-l needs a kind, as in: causeway delete meshservices -l team=db');
  return selectedResources(context, noun, { ...options, selector });
}

async function fromFiles(
  context: CommandContext,
  files: readonly string[],
  options: DeleteOptions,
): Promise<ResourceRef[]> {
  const documents = await readDocuments(files, context.stdin);
  // Deleting a definition deletes the resources of its kind.
  const declared = new Set(options.ignoreNotFound ? documents.flatMap(({ value }) => kindsDeclaredBy(value)) : []);
  return documents.flatMap(({ file, line, value }) => {
    const ref = readRef(context.registry, value, options);
    if (!ref && isJsonObject(value) && declared.has(readType(value))) return [];
    if (!ref)
      throw new UsageError(`${file}:${line}: the document names no known type, or has no name; nothing was deleted`);
    return [ref];
  });
}

/**
 * Returns the names by which documents may refer to the kind that a document declares; none for other kinds than
 * MetaresourceDefinition.
 */
function kindsDeclaredBy(value: unknown): readonly string[] {
  if (!isJsonObject(value) || readType(value) !== 'MetaresourceDefinition') return [];
  const [kind, group] = [textAt(value, 'spec', 'kind'), textAt(value, 'spec', 'group')];
  return [kind, `${kind}.${group}`];
}

/** Asks for confirmation at a terminal before more than one resource is deleted, or a zone by force; then says what that costs. */
async function agreed(
  context: CommandContext,
  doomed: readonly ResourceRef[],
  { yes, dryRun, force }: DeleteOptions,
): Promise<boolean> {
  if (yes || dryRun || !context.terminal) return true;
  const cost = force ? await forcedCost(context, doomed) : [];
  if (doomed.length === 1 && cost.length === 0) return true;
  for (const ref of doomed.slice(0, SHOWN)) context.printError(`  ${formatTitle(ref)}`);
  if (doomed.length > SHOWN) context.printError(`  and ${doomed.length - SHOWN} more`);
  printWarnings(context, cost);
  const what = doomed.length === 1 ? 'this resource' : `these ${doomed.length} resources`;
  return confirmed(context, `delete ${what} at ${(await context.api()).server.host}?`);
}

/** Returns what the server says of the deletion of zones that are Online; nothing for a zone that it would refuse. */
async function forcedCost(context: CommandContext, doomed: readonly ResourceRef[]): Promise<readonly string[]> {
  const costs: string[] = [];
  for (const ref of doomed) {
    if (ref.kind !== 'Zone') continue;
    const api = await context.api();
    costs.push(
      ...(await api.delete(ref, { dryRun: true, force: true }).catch((error: unknown) => {
        if (error instanceof ApiError && !(error instanceof ConnectionError)) return [];
        throw error;
      })),
    );
  }
  return costs;
}

/** Maximum number of resources that the question names. */
const SHOWN = 20;

/** Maximum number of deletions in flight: the server stores those that arrive together by one statement. */
const MAX_IN_FLIGHT = 64;

/**
 * Deletes resources, neighbours of one kind together, and prints their results in their order. Returns how many are not
 * deleted. Rejects if the control plane is unreachable.
 */
export async function removeAll(
  context: CommandContext,
  refs: readonly ResourceRef[],
  options: RemoveOptions,
): Promise<number> {
  let failures = 0;
  for (let done = 0; done < refs.length;) {
    const next = refs.slice(done, done + MAX_IN_FLIGHT);
    // A kind may need the one before it: a Mesh is deleted after its members.
    const other = next.findIndex(({ kind }) => kind !== next[0]?.kind);
    const together = other < 0 ? next : next.slice(0, other);
    const results = await Promise.allSettled(together.map((ref) => removeOne(context, ref, options)));
    for (const result of results) {
      if (result.status === 'rejected') throw result.reason;
      if (!result.value(context)) failures++;
    }
    done += together.length;
  }
  return failures;
}

type RemoveOptions = Pick<DeleteOptions, 'dryRun' | 'ignoreNotFound' | 'terminate' | 'force'>;

/** Prints the result of a deletion; returns whether the resource is gone. */
type RemoveResult = (context: CommandContext) => boolean;

async function removeOne(
  context: CommandContext,
  ref: ResourceRef,
  { dryRun = false, ignoreNotFound = false, ...options }: RemoveOptions,
): Promise<RemoveResult> {
  const terminate = options.terminate === true && ref.kind === 'Mesh';
  const force = options.force === true && ref.kind === 'Zone';
  try {
    const warnings = await (await context.api()).delete(ref, { dryRun, terminate, force });
    return ({ print }) => {
      print(`${formatTitle(ref)} deleted${dryRun ? ' (dry run)' : ''}`);
      printWarnings(context, warnings);
      return true;
    };
  } catch (error) {
    if (!(error instanceof ApiError) || error instanceof ConnectionError) throw error;
    if (error.code === 'not-found' && ignoreNotFound) return () => true;
    const reasons = error.violations.map(({ field, reason }) => `${field}: ${reason}`);
    return ({ printError }) => {
      printError(`${formatTitle(ref)}: ${[formatApiError(error), ...reasons].join('; ')}`);
      return false;
    };
  }
}

/** Asks for a yes; anything else, including the end of the input and Ctrl-C, is a no. The question goes to standard error. */
async function confirmed(context: CommandContext, question: string): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const ended = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
    const answer = reader.question(asked(question), { signal: context.signal }).catch(() => '');
    return /^y(es)?$/i.test((await Promise.race([answer, ended])).trim());
  } finally {
    reader.close();
  }
}

/** Prints the warnings of a write. */
export function printWarnings(context: CommandContext, warnings: readonly string[]): void {
  for (const warning of warnings) context.printError(`  warning: ${escapedLine(warning)}`);
}

/** `causeway delete`. */
export function registerDelete(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('delete')
    .description('deletes resources by name, by labels, or those of files')
    .argument('[words...]', `KIND NAME..., or KIND/NAME...; KIND is one of ${nouns(context)}`)
    .option('-f, --filename <path...>', 'files, folders, or -: what they hold is deleted, the last first')
    .option('-l, --selector <labels>', 'labels, as in team=db,tier!=test')
    .addOption(meshOption())
    .option('-n, --namespace <namespace>')
    .option('--dry-run', 'check everything, delete nothing')
    .option('--terminate', 'meshes take no new members from now on, also those that have members and stay')
    .option('--force', 'zones also while they are Online, which is an outage: --dry-run says what it costs')
    .option('--ignore-not-found', 'what is not there counts as deleted')
    .option('-y, --yes', 'do not ask')
    .action(async (words: string[], options: DeleteOptions) => finish(await remove(context, words, options)));
}
