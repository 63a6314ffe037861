import { getZoneOverview, listAuditEntries, type AuditEntry } from '@causeway/api';
import { ApiError } from '@causeway/api-client';
import { describeIdentity, isJsonObject, type JsonObject, type Kind } from '@causeway/resources';
import type { Command } from 'commander';
import { chooseColour } from '../../colour';
import { UsageError, type CommandContext } from '../../context';
import { meshOption, namespaceOption, nouns, zoneOption, type SetExitCode } from '../../options';
import { readReference, refTo, parseSelections, type Reference } from '../../refs';
import { age, inLines, listAt, objectAt, structured, table, textAt } from '../../render';
import { insightLines, pendingDecisions } from '../zones/zone-insight';
import { zoneOfServer } from '../zones/zones';
import { relatedSections } from './related';

export interface DescribeOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly zone?: string;
}

/** `causeway describe KIND NAME...` or `causeway describe KIND/NAME...`: all facts about resources, for people. */
export async function describe(
  context: CommandContext,
  args: readonly string[],
  options: DescribeOptions,
): Promise<number> {
  const named = parseSelections(context.registry, args).flatMap(({ kind, names }) =>
    names.map((name) => ({ kind, name })),
  );
  if (named.length === 0) throw new UsageError('describe needs a name, as in: causeway describe meshservice redis');
  for (const [i, { kind, name }] of named.entries()) {
    if (i > 0) context.print('');
    await describeOne(context, kind, name, options);
  }
  return 0;
}

async function describeOne(context: CommandContext, kind: Kind, name: string, options: DescribeOptions): Promise<void> {
  const { document: body } = await (await context.api()).get(refTo({ kind, name }, options));
  const id = { kind: kind.name, ...readReference(body) };
  const created = textAt(body, 'creationTime');
  context.print(describeIdentity(id));
  context.print(`  KRI         ${textAt(body, 'kri')}`);
  context.print(
    `  Created     ${created} (${age(created, context.now())} ago), generation ${textAt(body, 'generation')}`,
  );
  const change = await lastChange(context, id);
  if (change !== undefined) context.print(`  Changed     ${change}`);
  section(context, 'Labels', body['labels']);
  section(context, 'Spec', kind.confidential ? concealed(objectAt(body, 'spec')) : body['spec']);
  for (const { title, text } of await relatedSections(context, kind, body)) {
    context.print(`${title}:`);
    context.print(indent(text));
  }
  const { addresses: _, conditions: __, parents: ___, ...status } = objectAt(body, 'status');
  section(context, 'Status', status);
  parents(context, body);
  conditions(context, body);
  if (kind.name === 'Zone') await zoneSync(context, id.name);
}

/** Returns the last change of a resource from the audit log; undefined if there is no log, or no entry that the caller may read. */
async function lastChange(
  context: CommandContext,
  { kind, mesh, zone, namespace, name }: Reference & { readonly kind: string },
): Promise<string | undefined> {
  const query = { kind, name, ...(mesh === '' ? {} : { mesh }), result: 'done' } as const;
  const { rest } = await context.api();
  const entries = await rest
    .items(listAuditEntries, { query, most: 1 })
    .catch((error: unknown): readonly AuditEntry[] => {
      if (error instanceof ApiError && error.code !== 'unavailable' && error.code !== 'internal') return [];
      throw error;
    });
  const [entry] = inLines(entries);
  if (!entry || (entry.zone || zone) !== zone || (entry.namespace || namespace) !== namespace) return undefined;
  return `${entry.time} (${age(entry.time, context.now())} ago) by ${entry.user} (${entry.verb ?? ''})`;
}

/** Prints the conditions of the parents of a route, including those of other controllers. */
function parents(context: CommandContext, body: JsonObject): void {
  const rows = listAt(objectAt(body, 'status'), 'parents').flatMap((entry) =>
    listAt(entry, 'conditions').map((each) => [
      parentText(objectAt(entry, 'parentRef')),
      ...conditionCells(context, each),
      textAt(entry, 'controllerName'),
    ]),
  );
  if (rows.length === 0) return;
  const head = ['PARENT', ...CONDITION_HEAD, 'CONTROLLER'];
  context.print('Parents:');
  context.print(indent(table(head, rows)));
}

function parentText(ref: JsonObject): string {
  const [kind, namespace, name, port, section] = ['kind', 'namespace', 'name', 'port', 'sectionName'].map((key) =>
    textAt(ref, key),
  );
  const place = [port, section].filter((part) => part).join(' ');
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}${place === '' ? '' : `:${place}`}`;
}

const CONDITION_HEAD = ['CONDITION', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'];

function conditionCells(context: CommandContext, each: JsonObject): string[] {
  return [
    textAt(each, 'type'),
    context.paint(chooseColour(textAt(each, 'status')), textAt(each, 'status')),
    textAt(each, 'reason'),
    age(textAt(each, 'lastTransitionTime'), context.now()),
    textAt(each, 'message'),
  ];
}

function conditions(context: CommandContext, body: JsonObject): void {
  const rows = listAt(objectAt(body, 'status'), 'conditions').map((each) => conditionCells(context, each));
  if (rows.length === 0) return;
  context.print('Conditions:');
  context.print(indent(table(CONDITION_HEAD, rows)));
}

/** Replaces the values of a secret by their sizes; `get -o yaml` prints them. */
function concealed(spec: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(spec).map(([key, value]) => [
      key,
      typeof value === 'string' ? `***** (${Buffer.from(value, 'base64').length} bytes)` : '*****',
    ]),
  );
}

/** Prints the insight of a zone: sessions, lag, pending decisions. */
async function zoneSync(context: CommandContext, zone: string): Promise<void> {
  const { rest } = await context.api();
  const found = await rest.call(getZoneOverview, { path: { name: zone } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'rest-only') return undefined;
    throw error;
  });
  if (!found) return context.print('Sync:\n  shown over REST only');
  const insight = inLines(found.zoneInsight);
  if (!insight?.health) return;
  context.print('Sync:');
  context.print(indent(insightLines(insight, context.now()).join('\n')));
  const peer = (await zoneOfServer(context)) === undefined ? zone : undefined;
  for (const line of pendingDecisions(insight, peer, context.now())) context.printError(line);
}

function section(context: CommandContext, title: string, content: unknown): void {
  if (!isJsonObject(content) || Object.keys(content).length === 0) return;
  context.print(`${title}:`);
  context.print(indent(structured(content, 'yaml')));
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}

/** `causeway describe`. */
export function registerDescribe(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('describe')
    .description('shows everything about a resource, also what stands in others: instances, names, holders')
    .argument('<kind>', `KIND or KIND/NAME; kinds are ${nouns(context)}`)
    .argument('[names...]', 'names, or more of KIND/NAME')
    .addOption(meshOption())
    .addOption(namespaceOption())
    .addOption(zoneOption())
    .action(async (kind: string, names: string[], options: DescribeOptions) =>
      finish(await describe(context, [kind, ...names], options)),
    );
}
