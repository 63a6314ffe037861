import { isJsonObject, type JsonObject, type Kind } from '@causeway/resources';
import { kindOf, pathOf, UsageError, type CommandContext } from '../../context';
import { age, structured, table, textAt, type Output } from '../../render';
import { columnsOf } from './columns';
import { listAll } from '../../api-client';
import type { Command } from 'commander';
import { meshOption, nouns, outputOption, type SetExitCode } from '../../options';

export interface GetOptions {
  readonly mesh: string;
  readonly allMeshes?: boolean;
  readonly namespace?: string;
  readonly zone?: string;
  readonly selector?: string;
  readonly output: Output;
  readonly watch?: boolean;
}

/** `causeway get NOUN [NAME]`: one resource or a list, as table, YAML or JSON; with --watch each change as it comes. */
export async function get(
  context: CommandContext,
  noun: string,
  name: string | undefined,
  options: GetOptions,
): Promise<number> {
  const kind = kindOf(context.registry, noun);
  const query = { namespace: options.namespace, zone: options.zone };
  const mesh = options.allMeshes ? undefined : options.mesh;
  if (name !== undefined) {
    if (options.watch) throw new UsageError('--watch follows a list; leave the name out');
    const { body } = await context.api().send({ method: 'GET', path: pathOf(kind, options.mesh, name), query });
    printItems(context, kind, { items: isJsonObject(body) ? [body] : [], single: true, output: options.output });
    return 0;
  }
  const request = { path: pathOf(kind, mesh), query: { ...query, labelSelector: options.selector } };
  if (options.watch) return watch(context, kind, { ...options, request });
  const items = await listAll(context.api(), request);
  printItems(context, kind, { items, single: false, output: options.output });
  return 0;
}

function printItems(
  context: CommandContext,
  kind: Kind,
  shown: { readonly items: readonly JsonObject[]; readonly single: boolean; readonly output: Output },
): void {
  if (shown.output !== 'table') {
    context.print(structured(shown.single ? shown.items[0] : { items: shown.items }, shown.output));
    return;
  }
  if (shown.items.length === 0) return context.printError(`no ${kind.plural}`);
  const columns = columnsOf(kind);
  const head = [...columns.map((column) => column.title), 'AGE'];
  const rows = shown.items.map((item) => [
    ...columns.map((column) => column.cell(item)),
    age(textAt(item, 'creationTime'), context.now()),
  ]);
  context.print(table(head, rows));
}

async function watch(
  context: CommandContext,
  kind: Kind,
  options: GetOptions & {
    readonly request: { readonly path: string; readonly query: Readonly<Record<string, string | undefined>> };
  },
): Promise<number> {
  const query = { ...options.request.query, watch: 'true' };
  const lines = context.api().events({ method: 'GET', path: options.request.path, query }, context.signal);
  let event = '';
  try {
    for await (const line of lines) {
      if (line.startsWith('event:')) event = line.slice(6).trim();
      if (line.startsWith('data:')) printEvent(context, { kind, event, data: line.slice(5), output: options.output });
    }
  } catch (error) {
    if (!context.signal.aborted) throw error;
  }
  return 0;
}

function printEvent(
  context: CommandContext,
  seen: { readonly kind: Kind; readonly event: string; readonly data: string; readonly output: Output },
): void {
  if (seen.event === 'bookmark') return;
  const body: unknown = JSON.parse(seen.data);
  if (!isJsonObject(body)) return;
  const item = isJsonObject(body['resource']) ? body['resource'] : body;
  if (seen.output !== 'table') return context.print(structured(body, seen.output));
  const cells = columnsOf(seen.kind).map((column) => column.cell(item));
  context.print([seen.event.padEnd(8), ...cells].join('  '));
}

/** `causeway get`. */
export function registerGet(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('get')
    .description('shows resources of a kind, or one of them')
    .argument('<kind>', nouns(context))
    .argument('[name]')
    .addOption(meshOption())
    .option('-A, --all-meshes', 'over all meshes')
    .option('-n, --namespace <namespace>')
    .option('-z, --zone <zone>', "a zone's copy; empty for the global's")
    .option('-l, --selector <labels>', 'labels, as in team=db,tier!=test')
    .addOption(outputOption())
    .option('-w, --watch', 'show every change as it comes')
    .action(async (kind: string, name: string | undefined, options: GetOptions) =>
      finish(await get(context, kind, name, options)),
    );
}
