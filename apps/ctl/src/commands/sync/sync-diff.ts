import { setTimeout as pause } from 'node:timers/promises';
import { describeServer, showConfig } from '@causeway/api';
import type { ApiClient } from '@causeway/api-client';
import { identityKey, type Kind } from '@causeway/resources';
import { isKindSentDown, isKindSentUp, MeshView } from '@causeway/sync';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../../context';
import { outputOption, type SetExitCode } from '../../options';
import { inLines, pathTo, structured, table, textAt, type Output } from '../../render';
import { compareStores, type Difference } from './compare-stores';
import { listKind, servedMeshes } from './synced-meshes';

export interface SyncDiffOptions {
  readonly zoneContext?: string;
  readonly zoneServer?: string;
  readonly zoneToken?: string;
  readonly output: Output;
}

/** Delay before differences are checked again, ms: resources in transit have arrived by then. */
const IN_FLIGHT = 1_000;

/** `causeway sync diff ZONE`: the resources that a zone lacks of the global, and the reverse. The exit code is 1 if there are differences. */
export async function syncDiff(context: CommandContext, zone: string, options: SyncDiffOptions): Promise<number> {
  const { zoneContext, zoneServer: server, zoneToken } = options;
  const token = zoneToken === undefined ? {} : { token: zoneToken };
  const servers = {
    global: await context.api(),
    zone: await context.api(server === undefined ? { context: zoneContext ?? zone, ...token } : { server, ...token }),
  };
  await checkServers(servers, zone);
  const found = await standing(context, servers, zone);
  if (options.output !== 'table') {
    context.print(
      structured({ zone, items: found.map(({ id, ...rest }) => ({ ...rest, resource: id })) }, options.output),
    );
  } else if (found.length === 0) context.print(`zone ${zone} and the global have the same`);
  else {
    const rows = found.map(({ where, state, id, parts }) => [
      where === 'zone' ? zone : 'global',
      state,
      id.kind,
      pathTo(id),
      parts.join(', '),
    ]);
    context.print(table(['WHERE', 'STATE', 'KIND', 'RESOURCE', 'WHAT DIFFERS'], rows));
    context.printError(`why, and what is on its way: causeway describe zone ${zone}`);
  }
  return found.length === 0 ? 0 : 1;
}

interface Servers {
  readonly global: ApiClient;
  readonly zone: ApiClient;
}

async function checkServers({ global, zone }: Servers, name: string): Promise<void> {
  const [above, below] = [await describeRole(global), await describeRole(zone)];
  if (above !== 'global')
    throw new UsageError(
      `${global.server.host} is ${above}: ask the global (--context, --server), and name the zone's server by --zone-context or --zone-server`,
    );
  if (below !== `zone ${name}`)
    throw new UsageError(
      `${zone.server.host} is ${below}, not zone ${name}: name its server by --zone-context or --zone-server`,
    );
}

async function describeRole(api: ApiClient): Promise<string> {
  const { mode, zone = '' } = inLines(await api.rest.call(describeServer));
  return mode === 'zone' ? `zone ${zone}` : mode;
}

/** Returns the differences that persist after a delay. */
async function standing(context: CommandContext, servers: Servers, zone: string): Promise<readonly Difference[]> {
  const kinds = context.registry.kinds.filter((kind) => {
    const peer = { zone, causeway: true, groups: true };
    return !kind.confidential && (isKindSentDown(kind, peer) || isKindSentUp(kind, peer));
  });
  const first = await compareAll(context, servers, { zone, kinds });
  if (first.length === 0) return first;
  await pause(IN_FLIGHT, undefined, { signal: context.signal });
  const before = new Set(first.map(differenceKey));
  const again = kinds.filter(({ name }) => first.some(({ id }) => id.kind === name));
  return (await compareAll(context, servers, { zone, kinds: again })).filter((each) => before.has(differenceKey(each)));
}

function differenceKey({ where, state, id }: Difference): string {
  return `${where} ${state} ${identityKey(id)}`;
}

async function compareAll(
  context: CommandContext,
  servers: Servers,
  { zone, kinds }: { readonly zone: string; readonly kinds: readonly Kind[] },
): Promise<readonly Difference[]> {
  const config = await servers.global.rest.call(showConfig);
  const meshes = await servedMeshes(servers.global, context.registry, config);
  const zones = await listKind(servers.global, context.registry.kind('Zone'));
  const exportDefault = textAt(config, 'CAUSEWAY_EXPORT_DEFAULT') === 'None' ? 'None' : 'All';
  const view = MeshView.of(meshes, zones, exportDefault);
  const differences: Difference[] = [];
  for (const kind of kinds) {
    const [inGlobal, inZone] = await Promise.all([listKind(servers.global, kind), listKind(servers.zone, kind)]);
    differences.push(...compareStores({ kind, zone, inGlobal, inZone, view }));
  }
  return differences;
}

/** `causeway sync`. */
export function registerSync(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('sync')
    .description('compares control planes')
    .command('diff')
    .description('shows what a zone lacks of the global or has otherwise, and the reverse; exit code 1 if they differ')
    .argument('<zone>', 'the zone')
    .option('--zone-context <name>', "the context of the zone's control plane; the zone's name unless given")
    .option('--zone-server <url>', "REST address of the zone's control plane")
    .option('--zone-token <token>', "token for the zone's control plane")
    .addOption(outputOption())
    .action(async (zone: string, options: SyncDiffOptions) => finish(await syncDiff(context, zone, options)));
}
