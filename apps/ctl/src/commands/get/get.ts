import { ApiError, type ResourceSelection } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../../context';
import { formatApiError } from '../../control-plane';
import { meshOption, namespaceOption, nouns, zoneOption, type SetExitCode } from '../../options';
import { formatNoun, refTo, toSelection, parseSelections, type Selection } from '../../refs';
import { structured, table, textAt } from '../../render';
import { outputFormOption, parseOutputForm, sortedBy, type OutputForm } from './output-form';
import { ResourceTable, type RowForm } from './columns';
import { watch } from './watch';

export interface GetOptions {
  readonly mesh: string;
  readonly allMeshes?: boolean;
  readonly namespace?: string;
  readonly zone?: string;
  readonly selector?: string;
  readonly output: string;
  readonly sortBy?: string;
  readonly showLabels?: boolean;
  readonly watch?: boolean;
}

/** The result of one selection. */
interface Found {
  readonly selection: Selection;
  readonly items: readonly JsonObject[];
}

/**
 * `causeway get KINDS [NAME...]` or `causeway get KIND/NAME...`: resources as tables, YAML, JSON, names or by a template; with --watch each change as
 * it happens. Failures for single names are reported, and the exit code is 1.
 */
export async function get(context: CommandContext, args: readonly string[], options: GetOptions): Promise<number> {
  const selections = parseSelections(context.registry, args);
  const named = selections.some(({ names }) => names.length > 0);
  if (named && options.selector !== undefined)
    throw new UsageError('--selector chooses from a list; leave the names out');
  const output = parseOutputForm(options.output);
  const form: RowForm = {
    wide: output.type === 'wide',
    allMeshes: options.allMeshes === true,
    showLabels: options.showLabels === true,
    kindInName: selections.length > 1,
    paint: context.paint,
  };
  if (options.watch) {
    const [selection, more] = selections;
    if (!selection || more) throw new UsageError('--watch follows one kind');
    return watch(context, { selection, request: listRequest(selection, options), output, form });
  }
  let failed = false;
  const fail = (error: ApiError): void => {
    failed = true;
    context.printError(formatApiError(error));
  };
  const found: Found[] = [];
  for (const selection of selections) {
    const items = await fetchItems(context, selection, options, fail);
    found.push({ selection, items: options.sortBy === undefined ? items : sortedBy(options.sortBy, items) });
  }
  const single = named && selections.length === 1 && selections[0]?.names.length === 1;
  if (!single || !failed) printFound(context, found, { output, form, single });
  return failed ? 1 : 0;
}

function listRequest({ kind }: Selection, { allMeshes, mesh, selector, ...place }: GetOptions): ResourceSelection {
  return toSelection(kind, { ...place, mesh: allMeshes ? undefined : mesh }, selector);
}

/** Fetches the resources of a selection; a failure for a name goes to `fail`. */
async function fetchItems(
  context: CommandContext,
  selection: Selection,
  options: GetOptions,
  fail: (error: ApiError) => void,
): Promise<readonly JsonObject[]> {
  const api = await context.api();
  if (selection.names.length === 0) return (await api.list(listRequest(selection, options))).documents;
  const items: JsonObject[] = [];
  for (const name of selection.names) {
    try {
      items.push((await api.get(refTo({ kind: selection.kind, name }, options))).document);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'not-found') throw error;
      fail(error);
    }
  }
  return items;
}

function printFound(
  context: CommandContext,
  found: readonly Found[],
  { output, form, single }: { readonly output: OutputForm; readonly form: RowForm; readonly single: boolean },
): void {
  const all = found.flatMap(({ items }) => items);
  if (output.type === 'table' || output.type === 'wide') return printTables(context, found, form);
  if (output.type === 'name') {
    for (const { selection, items } of found)
      for (const item of items) context.print(formatNoun(selection.kind, textAt(item, 'name')));
    return;
  }
  const value: JsonObject = single ? (all[0] ?? {}) : { items: all };
  if (output.type === 'jsonpath') context.print(output.template(value).replace(/\n$/, ''));
  else context.print(structured(value, output.type));
}

/** Prints one table for each kind, separated by empty lines; a kind without resources is reported on standard error, with exit code 0. */
function printTables(context: CommandContext, found: readonly Found[], form: RowForm): void {
  const shown = found.filter(({ items }) => items.length > 0);
  for (const { selection, items } of found)
    if (items.length === 0 && selection.names.length === 0) context.printError(`no ${selection.kind.plural}`);
  shown.forEach(({ selection, items }, i) => {
    const rows = new ResourceTable(selection.kind, form);
    if (i > 0) context.print('');
    context.print(
      table(
        rows.head,
        items.map((item) => rows.row(item, context.now())),
      ),
    );
  });
}

/** `causeway get`. */
export function registerGet(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('get')
    .description('shows resources of a kind or of several, or some of them by name')
    .argument('<kinds>', `KIND, KIND,KIND or KIND/NAME; kinds are ${nouns(context)}`)
    .argument('[names...]', 'names, or more of KIND/NAME')
    .addOption(meshOption())
    .option('-A, --all-meshes', 'over all meshes')
    .addOption(namespaceOption())
    .addOption(zoneOption("only of this zone; 'global' for the global's own"))
    .option('-l, --selector <labels>', 'labels, as in team=db,tier!=test')
    .option('--sort-by <path>', 'a field by which to sort, as in .spec.template')
    .option('--show-labels', 'with all labels')
    .addOption(outputFormOption())
    .option('-w, --watch', 'show what is there, then every change as it comes')
    .action(async (kinds: string, names: string[], options: GetOptions) =>
      finish(await get(context, [kinds, ...names], options)),
    );
}
