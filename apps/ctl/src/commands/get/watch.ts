import type { ResourceSelection, WatchEvent } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import type { CommandContext } from '../../context';
import { formatNoun, type Selection } from '../../refs';
import { columnWidths, structured, tableLine, textAt } from '../../render';
import type { OutputForm } from './output-form';
import { ResourceTable, type RowForm } from './columns';

/** Scope of a watch, and its output. */
export interface WatchRequest {
  readonly selection: Selection;
  readonly request: ResourceSelection;
  readonly output: OutputForm;
  readonly form: RowForm;
}

/** A printed change; of a deleted resource only the identity is known. */
interface Change {
  readonly event: 'put' | 'delete';
  readonly body: JsonObject;
}

/** Prints changes; `whole` marks the end of the existing resources. */
interface ChangePrinter {
  readonly change: (change: Change) => void;
  readonly whole: () => void;
}

/** Follows a list until Ctrl-C, resuming after broken connections. Existing resources come first, then each change as it arrives. */
export async function watch(context: CommandContext, wanted: WatchRequest): Promise<number> {
  const printer = wanted.output.type === 'table' || wanted.output.type === 'wide' ? tablePrinter : plainPrinter;
  const { change, whole } = printer(context, wanted);
  const names = new Set(wanted.selection.names);
  for await (const event of (await context.api()).watch(wanted.request, { signal: context.signal })) {
    const seen = toChange(event);
    if (event.type === 'restart') context.printError('the server begins anew: what is there comes again');
    else if (event.type === 'bookmark') whole();
    if (seen && (names.size === 0 || names.has(textAt(seen.body, 'name')))) change(seen);
  }
  return 0;
}

function toChange(event: WatchEvent): Change | undefined {
  if (event.type === 'put') return { event: 'put', body: event.document };
  if (event.type !== 'deleted') return undefined;
  const { kind, ...place } = event.id;
  const given = Object.entries(place).filter(([key, value]) => value !== '' || key === 'name');
  return { event: 'delete', body: { type: kind, ...Object.fromEntries(given) } };
}

/** Prints events as objects, names or by a template, each as it arrives. */
function plainPrinter(context: CommandContext, { output, selection }: WatchRequest): ChangePrinter {
  const change = ({ event, body }: Change): void => {
    if (output.type === 'name') context.print(`${formatNoun(selection.kind, textAt(body, 'name'))} ${event}`);
    else if (output.type === 'jsonpath') context.print(output.template(body));
    else if (output.type === 'json') context.print(JSON.stringify({ event, resource: body }));
    else context.print(`---\n${structured({ event, resource: body }, 'yaml')}`);
  };
  return { change, whole: () => undefined };
}

/**
 * Prints events as lines of a table. The column widths come from the resources before the first bookmark; a wider cell later moves the rest of its
 * line.
 */
function tablePrinter(context: CommandContext, { selection, form }: WatchRequest): ChangePrinter {
  const table = new ResourceTable(selection.kind, form);
  const head = ['EVENT'.padEnd(7), ...table.head];
  const seenNames = new Set<string>();
  let waiting: (readonly string[])[] | undefined = [];
  let widths: readonly number[] = [];
  const toRow = ({ event, body }: Change): readonly string[] => {
    const key = JSON.stringify(['mesh', 'namespace', 'name'].map((part) => body[part]).concat(readZone(body)));
    const what = event === 'delete' ? 'deleted' : seenNames.has(key) ? 'changed' : waiting ? 'present' : 'added';
    if (event === 'delete') seenNames.delete(key);
    else seenNames.add(key);
    return [what.padEnd(7), ...table.row(body, context.now())];
  };
  return {
    change: (seen) => {
      const row = toRow(seen);
      if (waiting) waiting.push(row);
      else context.print(tableLine(row, widths));
    },
    whole: () => {
      if (!waiting) return;
      widths = columnWidths(head, waiting);
      for (const row of [head, ...waiting]) context.print(tableLine(row, widths));
      waiting = undefined;
    },
  };
}

function readZone(body: JsonObject): string {
  return textAt(body, 'labels', 'kuma.io/zone') || textAt(body, 'zone');
}
