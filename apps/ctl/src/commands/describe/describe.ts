import { describeIdentity, isJsonObject, type JsonObject } from '@causeway/resources';
import { kindOf, pathOf, type CommandContext } from '../../context';
import { age, objectAt, structured, table, textAt, listAt } from '../../render';
import { zoneOfServer } from '../zones/zones';
import { pendingDecisions, insightLines } from '../zones/zone-insight';
import type { Command } from 'commander';
import { meshOption, nouns, type SetExitCode } from '../../options';

export interface DescribeOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly zone?: string;
}

/** `causeway describe NOUN NAME`: everything about one resource, for people. */
export async function describe(
  context: CommandContext,
  noun: string,
  name: string,
  options: DescribeOptions,
): Promise<number> {
  const kind = kindOf(context.registry, noun);
  const query = { namespace: options.namespace, zone: options.zone };
  const { body } = await context.api().send({ method: 'GET', path: pathOf(kind, options.mesh, name), query });
  if (!isJsonObject(body)) return 1;
  const id = {
    kind: kind.name,
    mesh: textAt(body, 'mesh'),
    zone: textAt(body, 'labels', 'kuma.io/zone'),
    namespace: textAt(body, 'namespace'),
    name: textAt(body, 'name'),
  };
  const created = textAt(body, 'creationTime');
  context.print(describeIdentity(id));
  context.print(`  KRI         ${textAt(body, 'kri')}`);
  context.print(
    `  Created     ${created} (${age(created, context.now())} ago), generation ${textAt(body, 'generation')}`,
  );
  section(context, 'Labels', body['labels']);
  section(context, 'Spec', kind.confidential ? concealed(objectAt(body, 'spec')) : body['spec']);
  hostnames(context, body);
  const { addresses: _, ...status } = objectAt(body, 'status');
  section(context, 'Status', status);
  if (kind.name === 'Zone') await zoneSync(context, id.name);
  return 0;
}

/** The values of a secret are replaced by their sizes; `get -o yaml` prints them. */
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
  const path = `/zones+insights/${encodeURIComponent(zone)}`;
  const { body } = await context.api().send({ method: 'GET', path });
  const insight = isJsonObject(body) ? objectAt(body, 'zoneInsight') : {};
  if (textAt(insight, 'health') === '') return;
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

function hostnames(context: CommandContext, body: JsonObject): void {
  const addresses = listAt(objectAt(body, 'status'), 'addresses');
  if (addresses.length === 0) return;
  const rows = addresses.map((a) => [
    textAt(a, 'hostname') || '-',
    textAt(a, 'status'),
    textAt(a, 'origin', 'name'),
    textAt(a, 'reason'),
  ]);
  context.print('Hostnames:');
  context.print(indent(table(['HOSTNAME', 'STATUS', 'GENERATOR', 'REASON'], rows)));
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}

/** `causeway describe`. */
export function registerDescribe(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('describe')
    .description('shows everything about one resource')
    .argument('<kind>', nouns(context))
    .argument('<name>')
    .addOption(meshOption())
    .option('-n, --namespace <namespace>')
    .option('-z, --zone <zone>', "a zone's copy; empty for the global's")
    .action(async (kind: string, name: string, options: DescribeOptions) =>
      finish(await describe(context, kind, name, options)),
    );
}
