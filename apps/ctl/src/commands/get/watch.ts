import { isJsonObject, type JsonObject } from '@causeway/resources';
import { refusal, type ApiRequest } from '../../api-client';
import type { CommandContext } from '../../context';
import { columnWidths, structured, tableLine, textAt } from '../../render';
import type { OutputForm } from './output-form';
import { nounOf, type Selection } from './selection';
import { ResourceTable, type RowForm } from './resource-table';

/** What a watch follows, and how it shows it. */
export interface WatchRequest {
  readonly selection: Selection;
  readonly request: Omit<ApiRequest, 'method'>;
  readonly output: OutputForm;
  readonly form: RowForm;
}

/** One server-sent event. */
interface WatchEvent {
  readonly event: string;
  readonly body: JsonObject;
}

/** Follows a list until Ctrl-C. What is there already comes first, then each change as it comes. */
export async function watch(context: CommandContext, wanted: WatchRequest): Promise<number> {
  const print = wanted.output.type === 'table' || wanted.output.type === 'wide' ? tablePrinter : plainPrinter;
  const show = print(context, wanted);
  const names = new Set(wanted.selection.names);
  try {
    for await (const seen of eventsOf(context, wanted.request)) {
      if (seen.event === 'relist') context.printError('the server begins anew: run the command again');
      const name = seen.body['name'];
      if (names.size === 0 || seen.event === 'bookmark' || (typeof name === 'string' && names.has(name))) show(seen);
    }
  } catch (error) {
    if (!context.signal.aborted) throw error;
    return 0;
  }
  if (context.signal.aborted) return 0;
  context.printError('the server ended the watch');
  return 1;
}

async function* eventsOf(context: CommandContext, request: Omit<ApiRequest, 'method'>): AsyncGenerator<WatchEvent> {
  const query = { ...request.query, watch: 'true' };
  let event = '';
  for await (const line of context.api().events({ method: 'GET', path: request.path, query }, context.signal)) {
    if (line.startsWith('event:')) event = line.slice(6).trim();
    if (!line.startsWith('data:')) continue;
    const body: unknown = JSON.parse(line.slice(5));
    if (event === 'error') throw refusal(Number(isJsonObject(body) ? body['status'] : 0), body, line);
    if (isJsonObject(body)) yield { event, body };
  }
}

/** Events as objects, names or by a template, each as it comes. */
function plainPrinter(context: CommandContext, { output, selection }: WatchRequest): (seen: WatchEvent) => void {
  return ({ event, body }) => {
    if (event !== 'put' && event !== 'delete') return;
    if (output.type === 'name') context.print(`${nounOf(selection.kind, textAt(body, 'name'))} ${event}`);
    else if (output.type === 'jsonpath') context.print(output.template(body));
    else if (output.type === 'json') context.print(JSON.stringify({ event, resource: body }));
    else context.print(`---\n${structured({ event, resource: body }, 'yaml')}`);
  };
}

/**
 * Events as lines of a table. The head is as wide as what was there before the first bookmark; a later cell that is
 * wider moves the rest of its line.
 */
function tablePrinter(context: CommandContext, { selection, form }: WatchRequest): (seen: WatchEvent) => void {
  const table = new ResourceTable(selection.kind, form);
  const head = ['EVENT'.padEnd(7), ...table.head];
  const seenNames = new Set<string>();
  let waiting: (readonly string[])[] | undefined = [];
  let widths: readonly number[] = [];
  const rowOf = ({ event, body }: WatchEvent): readonly string[] => {
    const key = JSON.stringify(['mesh', 'namespace', 'name'].map((part) => body[part]).concat(zoneOf(body)));
    const what = event === 'delete' ? 'deleted' : seenNames.has(key) ? 'changed' : waiting ? 'present' : 'added';
    if (event === 'delete') seenNames.delete(key);
    else seenNames.add(key);
    return [what.padEnd(7), ...table.row(body, context.now())];
  };
  return (seen) => {
    if (seen.event === 'put' || seen.event === 'delete') {
      const row = rowOf(seen);
      if (waiting) waiting.push(row);
      else context.print(tableLine(row, widths));
    } else if (seen.event === 'bookmark' && waiting) {
      widths = columnWidths(head, waiting);
      for (const row of [head, ...waiting]) context.print(tableLine(row, widths));
      waiting = undefined;
    }
  };
}

function zoneOf(body: JsonObject): string {
  return textAt(body, 'labels', 'kuma.io/zone') || textAt(body, 'zone');
}
