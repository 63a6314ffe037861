import { ApiError } from '@causeway/api-client';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../context';
import { formatApiError } from '../control-plane';
import { unifiedDiff } from '../diff';
import { readDocuments } from '../documents';
import { meshOption, type SetExitCode } from '../options';
import { ApplyReport, whoIs } from './apply/apply-report';
import { applyDocuments, type DocumentResult } from './apply/batches';

export interface DiffOptions {
  readonly filename: readonly string[];
  readonly mesh: string;
}

/**
 * `causeway diff`: the changes that `apply` would make. The exit code is 0 if there are none, 1 if there are some, 2 if unknown, like that of
 * diff(1).
 */
export async function diff(context: CommandContext, options: DiffOptions): Promise<number> {
  const documents = await readDocuments(options.filename, context.stdin);
  if (documents.length === 0) throw new UsageError('nothing to compare: the files hold no documents');
  const refusals = new ApplyReport(context, documents.length, true);
  let changes = 0;
  const result = async (each: DocumentResult): Promise<void> => {
    const { outcome } = each.result;
    if (outcome === 'refused') await refusals.result(each, async () => undefined);
    else if (outcome !== 'unchanged') {
      changes++;
      printChange(context, each);
    }
  };
  try {
    await applyDocuments(context, documents, { ...options, dryRun: true }, { progress: () => undefined, result });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new UsageError(formatApiError(error), { cause: error });
  }
  return refusals.failures > 0 ? 2 : changes > 0 ? 1 : 0;
}

function printChange(context: CommandContext, { result }: DocumentResult): void {
  const { diff: change, outcome } = result;
  context.print(`${whoIs(result)} would be ${outcome}`);
  if (!change) return;
  for (const each of unifiedDiff(change.before, change.after, context.paint)) context.print(each);
}

/** `causeway diff`. */
export function registerDiff(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('diff')
    .description('shows what apply would change; exit code 0: nothing, 1: something, 2: it cannot be said')
    .requiredOption('-f, --filename <path...>', 'files, folders, or -')
    .addOption(meshOption())
    .action(async (options: DiffOptions) => finish(await diff(context, options)));
}
