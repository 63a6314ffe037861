import { isJsonObject, type JsonObject } from '@causeway/resources';
import { ApiError, type ApiAnswer } from '../api-client';
import { pathOf, UsageError, type CommandContext } from '../context';
import { readDocuments, type SourceDocument } from '../documents';
import { objectAt, textAt } from '../render';
import type { AppliedDocument, ApplyOptions } from './applied';
import { printWarnings } from './delete';
import { printDryRunNames } from './dry-run-names';
import { prune } from './prune';

/** `causeway apply`: every document is tried; the exit code tells whether all went in. */
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
  else if (options.prune) context.complain('nothing was pruned, since not every document could be applied');
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
    context.complain(`${place}: ${isJsonObject(value) ? unknownType(context, value) : 'a document must be an object'}`);
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
    complain(context, document, { name: `${target.kind.name} ${target.name}`, error });
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

function complain(
  context: CommandContext,
  document: SourceDocument,
  failed: { readonly name: string; readonly error: ApiError },
): void {
  const { error, name } = failed;
  if (error.violations.length === 0) context.complain(`${document.file}:${document.line}: ${name}: ${error.message}`);
  for (const { field, reason } of error.violations) {
    context.complain(`${document.file}:${document.lineOf(field)}: ${name}: ${field}: ${reason}`);
  }
}
