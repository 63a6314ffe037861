import { putResource, type AnswerOf } from '@causeway/api';
import { ApiError, type ResourceId } from '@causeway/api-client';
import { identityKey, isJsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../../context';
import { readDocuments } from '../../documents';
import { meshOption, type SetExitCode } from '../../options';
import { readReference, itemToRef, toSelection } from '../../refs';
import { inLines, serviceName, table } from '../../render';
import { removeAll } from '../delete';
import { ApplyReport, ProgressLine } from './apply-report';
import { applyDocuments, type BatchOptions, type DocumentResult } from './batches';

type GeneratorAnswer = AnswerOf<typeof putResource>;

/** Options of `causeway apply`. */
export interface ApplyOptions extends BatchOptions {
  readonly filename: readonly string[];
  /** With a dry run on the global: the zone from whose point of view names are printed. */
  readonly seenFrom?: string;
  /** Delete resources that match `selector` and are not in the files. */
  readonly prune?: boolean;
  readonly selector?: string;
}

/** `causeway apply`: the exit code is 0 if all documents were applied. */
export async function apply(context: CommandContext, options: ApplyOptions): Promise<number> {
  if (options.prune && options.selector === undefined)
    throw new UsageError('--prune needs --selector: the labels that your files carry; nothing was written');
  const documents = await readDocuments(options.filename, context.stdin);
  if (documents.length === 0) throw new UsageError('nothing to apply: the files hold no documents');
  const report = new ApplyReport(context, documents.length, options.dryRun ?? false);
  const progress = new ProgressLine();
  const applied: ResourceId[] = [];
  const result = async (reported: DocumentResult): Promise<void> => {
    progress.clear();
    const { id, outcome } = reported.result;
    if (id && outcome !== 'refused' && outcome !== 'skipped') applied.push(id);
    await report.result(reported, () => generatorNames(context, reported, options));
  };
  try {
    await applyDocuments(context, documents, options, { progress: (far) => progress.show(far), result });
  } finally {
    progress.clear();
    report.end();
  }
  let { failures } = report;
  if (options.prune && failures === 0) failures += await prune(context, applied, options);
  else if (options.prune) context.printError('nothing was pruned, since not every document could be applied');
  return failures === 0 ? 0 : 1;
}

/**
 * Deletes the resources that match the selector, have a kind and mesh of the applied ones, were made on this control plane, and are not in the files.
 * Returns how many could not be deleted.
 */
async function prune(
  context: CommandContext,
  applied: readonly ResourceId[],
  { selector, dryRun = false }: Pick<ApplyOptions, 'selector' | 'dryRun'>,
): Promise<number> {
  const kept = new Set(applied.map(identityKey));
  // Applied documents have the zone of this control plane.
  const places = new Map(applied.map((id) => [JSON.stringify([id.kind, id.mesh, id.zone]), id]));
  let failures = 0;
  for (const { kind: name, mesh, zone } of places.values()) {
    const kind = context.registry.kind(name);
    if (!kind) continue;
    const { documents } = await (await context.api()).list(toSelection(kind, { mesh, zone }, selector));
    const left = documents.filter((item) => !kept.has(identityKey({ ...readReference(item), kind: name, zone })));
    const refs = left.map((item) => itemToRef(kind, item));
    failures += await removeAll(context, refs, { dryRun });
  }
  return failures;
}

/** Returns the names that a HostnameGenerator would create, from a dry run. */
async function generatorNames(
  context: CommandContext,
  { document: { value }, result: { id } }: DocumentResult,
  { dryRun, seenFrom }: ApplyOptions,
): Promise<void> {
  if (dryRun !== true || id?.kind !== 'HostnameGenerator' || !isJsonObject(value)) return;
  const path = { plural: 'hostnamegenerators', name: id.name };
  const { rest } = await context.api();
  try {
    const answer = await rest.call(putResource, { path, query: { dryRun: true, seenFrom }, body: value });
    printDryRunNames(context, inLines(answer));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'rest-only') throw error;
    context.print('  the names that it would make are shown over REST only: use an http:// or https:// address');
  }
}

/** Prints the result of a dry run of a HostnameGenerator: its names, and the collisions that it would win and lose. */
function printDryRunNames(context: CommandContext, answer: GeneratorAnswer): void {
  const { names, unnamed = [], dropped = [] } = answer;
  if (!names) {
    context.print('  --seen-from ZONE tells the names that it would make there');
    return;
  }
  const rows = names.map((name) => [name.hostname, name.mesh, serviceName(name), name.status, collision(name)]);
  context.print(rows.length === 0 ? 'no names' : table(['HOSTNAME', 'MESH', 'SERVICE', 'STATUS', 'COLLISION'], rows));
  for (const each of unnamed) context.print(`no name for ${serviceName(each)}: ${each.reason}`);
  for (const each of dropped) context.print(`no longer ${each.hostname} for ${serviceName(each)} (mesh ${each.mesh})`);
}

function collision({ takesFrom, reason = '' }: NonNullable<GeneratorAnswer['names']>[number]): string {
  return takesFrom ? `won from ${serviceName(takesFrom)}, which then shows: ${takesFrom.reason}` : reason;
}

/** `causeway apply`. */
export function registerApply(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('apply')
    .description('creates or updates what files, folders or - (standard input) hold')
    .requiredOption('-f, --filename <path...>', 'files, folders, or -')
    .addOption(meshOption())
    .option('--atomic', 'write all documents or none')
    .option('--dry-run', 'check everything, show what would change, write nothing')
    .option('--seen-from <zone>', 'with --dry-run on the global: the zone in which to look at the names of generators')
    .option('--prune', 'delete what carries the selector and is not in the files')
    .option('-l, --selector <labels>', 'labels that all your files carry, for --prune')
    .action(async (options: ApplyOptions) => finish(await apply(context, options)));
}
