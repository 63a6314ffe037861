import { isJsonObject, type JsonObject, type Kind } from '@causeway/resources';
import { ApiError, listAll, type ApiAnswer } from '../api-client';
import { pathOf, UsageError, type CommandContext } from '../context';
import { readDocuments, type SourceDocument } from '../documents';
import { objectAt, serviceName, table, textAt, listAt } from '../render';
import { printWarnings } from './delete';
import type { Command } from 'commander';
import { meshOption, type SetExitCode } from '../options';

/** `causeway apply`: tries every document; the exit code is 0 if all were applied. */
export async function apply(context: CommandContext, options: ApplyOptions): Promise<number> {
  if (options.prune && options.selector === undefined)
    throw new UsageError('--prune needs --selector: the labels that your files carry; nothing was written');
  const documents = await readDocuments(options.filename, context.stdin);
  if (documents.length === 0) throw new UsageError('nothing to apply: the files hold no documents');
  const applied: AppliedDocument[] = [];
  let failures = 0;
  for (const document of documents) {
    const done = await applyOne(context, document, options);
    if (done) applied.push(done);
    else failures++;
  }
  if (options.prune && failures === 0) failures += await prune(context, applied, options);
  else if (options.prune) context.printError('nothing was pruned, since not every document could be applied');
  return failures === 0 ? 0 : 1;
}

async function applyOne(
  context: CommandContext,
  document: SourceDocument,
  options: ApplyOptions,
): Promise<AppliedDocument | undefined> {
  const place = `${document.file}:${document.line}`;
  const value = document.value;
  const target = isJsonObject(value) ? targetOf(context, value, options) : undefined;
  if (!isJsonObject(value) || target === undefined) {
    context.printError(
      `${place}: ${isJsonObject(value) ? unknownType(context, value) : 'a document must be an object'}`,
    );
    return undefined;
  }
  try {
    const path = pathOf(target.kind, target.mesh, target.name);
    const namespace = target.namespace === '' ? undefined : target.namespace;
    const query = { namespace, ...(options.dryRun ? { dryRun: 'true', seenFrom: options.seenFrom } : {}) };
    const answer = await context.api().send({ method: 'PUT', path, query, body: value });
    report(context, { target, answer, dryRun: options.dryRun ?? false });
    return target;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    printFailure(context, document, { name: `${target.kind.name} ${target.name}`, error });
    return undefined;
  }
}

function targetOf(context: CommandContext, value: JsonObject, options: ApplyOptions): AppliedDocument | undefined {
  const kind = context.registry.kind(textAt(value, 'type') || textAt(value, 'kind'));
  const metadata = objectAt(value, 'metadata');
  const name = textAt(value, 'name') || textAt(metadata, 'name');
  if (!kind || name === '') return undefined;
  const labelled = textAt(value, 'labels', 'kuma.io/mesh') || textAt(metadata, 'labels', 'kuma.io/mesh');
  const namespace = kind.namespaced ? textAt(value, 'namespace') || textAt(metadata, 'namespace') : '';
  return { kind, name, namespace, mesh: textAt(value, 'mesh') || labelled || options.mesh };
}

function unknownType(context: CommandContext, value: JsonObject): string {
  const type = textAt(value, 'type') || textAt(value, 'kind');
  if (type === '') return 'type is missing: which kind is this?';
  if (context.registry.kind(type)) return 'name is missing';
  const guess = context.registry.suggestKind(type);
  return `type "${type}" is not a kind${guess === undefined ? '' : `; did you mean ${guess}?`}`;
}

function report(
  context: CommandContext,
  done: {
    readonly target: AppliedDocument;
    readonly answer: ApiAnswer;
    readonly dryRun: boolean;
  },
): void {
  const verb = done.answer.outcome ?? (done.answer.status === 201 ? 'created' : 'updated');
  context.print(`${done.target.kind.name} ${done.target.name} ${verb}${done.dryRun ? ' (dry run)' : ''}`);
  printWarnings(context, done.answer.body);
  if (done.dryRun && done.target.kind.name === 'HostnameGenerator') printDryRunNames(context, done.answer.body);
}

function printFailure(
  context: CommandContext,
  document: SourceDocument,
  failed: { readonly name: string; readonly error: ApiError },
): void {
  const { error, name } = failed;
  if (error.violations.length === 0) context.printError(`${document.file}:${document.line}: ${name}: ${error.message}`);
  for (const { field, reason } of error.violations) {
    context.printError(`${document.file}:${document.lineOf(field)}: ${name}: ${field}: ${reason}`);
  }
}

/** Options of `causeway apply`. */
export interface ApplyOptions {
  readonly filename: readonly string[];
  readonly mesh: string;
  readonly dryRun?: boolean;
  /** With a dry run on the global: the zone whose view of the names is printed. */
  readonly seenFrom?: string;
  /** Delete resources that match `selector` and are not in the files. */
  readonly prune?: boolean;
  readonly selector?: string;
}

/** One document that was written, and its address. */
export interface AppliedDocument {
  readonly kind: Kind;
  readonly mesh: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Deletes resources that match the selector, are of an applied kind, were made on this control plane, and are not in the
 * files.
 */
async function prune(
  context: CommandContext,
  applied: readonly AppliedDocument[],
  options: ApplyOptions,
): Promise<number> {
  const kept = new Set(applied.map((a) => [a.kind.name, a.kind.scope === 'mesh' ? a.mesh : '', a.name].join('/')));
  const places = new Map(applied.map((a) => [`${a.kind.name}/${a.mesh}`, a]));
  let failures = 0;
  for (const { kind, mesh } of places.values()) {
    const items = await listAll(context.api(), {
      path: pathOf(kind, mesh),
      query: { labelSelector: options.selector },
    });
    for (const item of items.filter(isJsonObject)) {
      const key = [kind.name, kind.scope === 'mesh' ? mesh : '', textAt(item, 'name')].join('/');
      if (!kept.has(key)) failures += await removeOne(context, { kind, mesh, item, dryRun: options.dryRun ?? false });
    }
  }
  return failures;
}

async function removeOne(
  context: CommandContext,
  doomed: { readonly kind: Kind; readonly mesh: string; readonly item: JsonObject; readonly dryRun: boolean },
): Promise<number> {
  const name = textAt(doomed.item, 'name');
  const namespace = textAt(doomed.item, 'namespace') || undefined;
  try {
    const query = { namespace, ...(doomed.dryRun ? { dryRun: 'true' } : {}) };
    const request = { method: 'DELETE', path: pathOf(doomed.kind, doomed.mesh, name), query } as const;
    const { body } = await context.api().send(request);
    context.print(`${doomed.kind.name} ${name} deleted${doomed.dryRun ? ' (dry run)' : ''}`);
    printWarnings(context, body);
    return 0;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    context.printError(`${doomed.kind.name} ${name}: ${error.message}`);
    return 1;
  }
}

/** Prints the answer to a dry run of a HostnameGenerator: its names, and the collisions that it would win and lose. */
function printDryRunNames(context: CommandContext, answer: unknown): void {
  if (!isJsonObject(answer) || !('names' in answer)) {
    context.print('  --seen-from ZONE tells the names that it would make there');
    return;
  }
  const rows = listAt(answer, 'names').map((name) => [
    textAt(name, 'hostname'),
    textAt(name, 'mesh'),
    serviceName(name),
    textAt(name, 'status'),
    collision(name),
  ]);
  context.print(rows.length === 0 ? 'no names' : table(['HOSTNAME', 'MESH', 'SERVICE', 'STATUS', 'COLLISION'], rows));
  for (const each of listAt(answer, 'unnamed'))
    context.print(`no name for ${serviceName(each)}: ${textAt(each, 'reason')}`);
  for (const each of listAt(answer, 'dropped'))
    context.print(`no longer ${textAt(each, 'hostname')} for ${serviceName(each)} (mesh ${textAt(each, 'mesh')})`);
}

function collision(name: JsonObject): string {
  const loser = objectAt(name, 'takesFrom');
  if (Object.keys(loser).length === 0) return textAt(name, 'reason');
  return `won from ${serviceName(loser)}, which then shows: ${textAt(loser, 'reason')}`;
}

/** `causeway apply`. */
export function registerApply(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('apply')
    .description('creates or updates what files, folders or - (standard input) hold')
    .requiredOption('-f, --filename <path...>', 'files, folders, or -')
    .addOption(meshOption())
    .option('--dry-run', 'check everything, write nothing; of a HostnameGenerator, tell the names it would make')
    .option('--seen-from <zone>', 'with --dry-run on the global: the zone in which to look')
    .option('--prune', 'delete what carries the selector and is not in the files')
    .option('-l, --selector <labels>', 'labels that all your files carry, for --prune')
    .action(async (options: ApplyOptions) => finish(await apply(context, options)));
}
