import type { Command } from 'commander';
import { isJsonObject, type JsonObject } from '@causeway/resources';
import { pathOf, UsageError, type CommandContext } from '../../context';
import { readDocuments, type SourceDocument } from '../../documents';
import { meshOption, type SetExitCode } from '../../options';
import { textAt } from '../../render';
import type { ApplyOptions } from './apply-options';
import { ApplyReport, ProgressLine } from './apply-report';
import { applyDocuments } from './batches';
import { printDryRunNames } from './generator-names';
import { prune, type AppliedDocument } from './prune';

/** `causeway apply`: the exit code is 0 if all documents were applied. */
export async function apply(context: CommandContext, options: ApplyOptions): Promise<number> {
  if (options.prune && options.selector === undefined)
    throw new UsageError('--prune needs --selector: the labels that your files carry; nothing was written');
  const documents = await readDocuments(options.filename, context.stdin);
  if (documents.length === 0) throw new UsageError('nothing to apply: the files hold no documents');
  const report = new ApplyReport(context, documents.length, options.dryRun ?? false);
  const progress = new ProgressLine();
  const applied: AppliedDocument[] = [];
  const result = async ({
    document,
    line,
    ...rest
  }: {
    readonly document: SourceDocument;
    readonly line: JsonObject;
  }): Promise<void> => {
    progress.clear();
    const target = appliedDocument(context, line);
    if (target) applied.push(target);
    await report.result({ document, line, ...rest }, () => generatorNames(context, document, { line, options }));
  };
  try {
    await applyDocuments(context, documents, options, { progress: (line) => progress.show(line), result });
  } finally {
    progress.clear();
    report.end();
  }
  let { failures } = report;
  if (options.prune && failures === 0) failures += await prune(context, applied, options);
  else if (options.prune) context.printError('nothing was pruned, since not every document could be applied');
  return failures === 0 ? 0 : 1;
}

function appliedDocument(context: CommandContext, line: JsonObject): AppliedDocument | undefined {
  const kind = context.registry.kind(textAt(line, 'type'));
  if (!kind || ['refused', 'skipped'].includes(textAt(line, 'outcome'))) return undefined;
  return { kind, mesh: textAt(line, 'mesh'), namespace: textAt(line, 'namespace'), name: textAt(line, 'name') };
}

/** Of a HostnameGenerator a dry run tells the names that it would make. */
async function generatorNames(
  context: CommandContext,
  { value }: SourceDocument,
  { line, options }: { readonly line: JsonObject; readonly options: ApplyOptions },
): Promise<void> {
  const kind = context.registry.kind('HostnameGenerator');
  if (!kind || options.dryRun !== true || textAt(line, 'type') !== kind.name || !isJsonObject(value)) return;
  const path = pathOf(kind, undefined, textAt(line, 'name'));
  const query = { dryRun: 'true', seenFrom: options.seenFrom };
  const { body } = await context.api().send({ method: 'PUT', path, query, body: value });
  printDryRunNames(context, body);
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
