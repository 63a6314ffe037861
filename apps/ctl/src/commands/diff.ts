import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { ApiError } from '../api-client';
import { changedLines } from '../changed-lines';
import { UsageError, type CommandContext } from '../context';
import { readDocuments, type SourceDocument } from '../documents';
import { meshOption, type SetExitCode } from '../options';
import { listAt, objectAt, structured, textAt } from '../render';

export interface DiffOptions {
  readonly filename: readonly string[];
  readonly mesh: string;
}

/** Documents that one request checks. */
const BATCH = 1_000;

/**
 * `causeway diff`: what `apply` would change. The exit code is 0 if nothing, 1 if something, 2 if it cannot be said, as that
 * of diff(1).
 */
export async function diff(context: CommandContext, { filename, mesh }: DiffOptions): Promise<number> {
  const documents = await readDocuments(filename, context.stdin);
  if (documents.length === 0) throw new UsageError('nothing to compare: the files hold no documents');
  let [changes, refusals] = [0, 0];
  for (let from = 0; from < documents.length; from += BATCH) {
    const batch = documents.slice(from, from + BATCH);
    for (const result of await dryRun(context, batch, mesh)) {
      const document = batch[Number(result['index'])];
      if (!document) continue;
      if (textAt(result, 'outcome') === 'refused') {
        refusals++;
        printRefusal(context, document, result);
      } else if (printChange(context, result)) changes++;
    }
  }
  return refusals > 0 ? 2 : changes > 0 ? 1 : 0;
}

/** What a write of the documents would do, one result each. */
async function dryRun(
  context: CommandContext,
  documents: readonly SourceDocument[],
  mesh: string,
): Promise<readonly JsonObject[]> {
  const body = documents.map(({ value }) => value);
  try {
    const query = { dryRun: 'true', mesh };
    const text = await context.api().text({ method: 'POST', path: '/_apply', query, body });
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line): unknown => JSON.parse(line)).filter(isJsonObject);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

/** Prints what a write would change; false if it would change nothing. */
function printChange(context: CommandContext, result: JsonObject): boolean {
  const outcome = textAt(result, 'outcome');
  const { before, after } = objectAt(result, 'diff');
  if (outcome !== 'created' && outcome !== 'updated') return false;
  const [old, now] = [before, after].map((side) => (isJsonObject(side) ? structured(side, 'yaml') : ''));
  context.print(`${textAt(result, 'type')} ${textAt(result, 'name')} would be ${outcome}`);
  for (const line of changedLines(old ?? '', now ?? '')) if (line !== '- ') context.print(`  ${line}`);
  return true;
}

function printRefusal(context: CommandContext, document: SourceDocument, result: JsonObject): void {
  const name = [textAt(result, 'type'), textAt(result, 'name')].filter((part) => part !== '').join(' ');
  const violations = listAt(result, 'invalid_parameters');
  const title = name === '' ? '' : `${name}: `;
  if (violations.length === 0) {
    const reason = [textAt(result, 'title'), textAt(result, 'detail')].filter((part) => part !== '').join(': ');
    context.printError(`${document.file}:${document.line}: ${title}${reason}`);
  }
  for (const each of violations) {
    const field = textAt(each, 'field');
    context.printError(`${document.file}:${document.lineOf(field)}: ${title}${field}: ${textAt(each, 'reason')}`);
  }
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
