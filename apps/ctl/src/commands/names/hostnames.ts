import { discoverHosts, listHostnames as listTable, type HostnameClaim } from '@causeway/api';
import { Option, type Command } from 'commander';
import { chooseColour } from '../../colour';
import { requireKind, UsageError, type CommandContext } from '../../context';
import { meshOption, type SetExitCode } from '../../options';
import { toSelection } from '../../refs';
import { inLines, serviceName, structured, table, textAt } from '../../render';

/** A service's claim on a hostname, with its mesh. */
export interface ClaimedHostname {
  readonly mesh: string;
  readonly hostname: string;
  readonly claim: HostnameClaim;
}

export interface HostnamesOptions {
  readonly mesh: string;
  readonly allMeshes?: boolean;
  readonly generator?: string;
  readonly service?: string;
  readonly lost?: boolean;
  /** Whether to print in the form of /etc/hosts, for a zone. */
  readonly hosts?: boolean;
  /** The zone whose point of view applies, on the global; absent there: each zone's report of its own services. */
  readonly zone?: string;
  readonly output: 'table' | 'wide' | 'yaml' | 'json';
}

/**
 * Returns the claims on the hostnames of a mesh that contain a text, by hostname and then by rank; on the global from the point of view of `zone`.
 */
export async function listClaims(
  context: CommandContext,
  mesh: string,
  { containing, zone }: { readonly containing?: string | undefined; readonly zone?: string | undefined } = {},
): Promise<ClaimedHostname[]> {
  const { rest } = await context.api();
  const entries = await rest.items(listTable, { path: { mesh }, query: { name: containing, zone } });
  return entries.flatMap(({ hostname, claims }) => claims.map((claim) => ({ mesh, hostname, claim })));
}

/** Returns the names of all meshes. */
export async function meshNames(context: CommandContext): Promise<readonly string[]> {
  const { documents } = await (await context.api()).list(toSelection(requireKind(context.registry, 'Mesh'), {}));
  return documents.map((mesh) => textAt(mesh, 'name'));
}

/** `causeway hostnames [TEXT]`: the hostnames that contain the text, each with the services that claim it. */
export async function hostnames(
  context: CommandContext,
  containing: string | undefined,
  options: HostnamesOptions,
): Promise<number> {
  const named = async (): Promise<string> => options.mesh || (await context.api()).rest.expectedMesh();
  if (options.hosts) return printHosts(context, containing, options);
  const meshes = options.allMeshes ? await meshNames(context) : [await named()];
  const all: ClaimedHostname[] = [];
  for (const mesh of meshes) all.push(...(await listClaims(context, mesh, { containing, zone: options.zone })));
  const shown = all.filter(({ claim }) => isWanted(claim, options));
  if (options.output === 'yaml' || options.output === 'json') {
    const items = shown.map(({ mesh, hostname, claim }) => ({ mesh, hostname, ...claim }));
    context.print(structured({ items }, options.output));
  } else if (shown.length === 0) context.printError('no hostnames');
  else context.print(claimTable(context, shown, { wide: options.output === 'wide', meshes: meshes.length > 1 }));
  return 0;
}

async function printHosts(
  context: CommandContext,
  containing: string | undefined,
  { mesh, ...others }: HostnamesOptions,
): Promise<number> {
  const { allMeshes, generator, service, lost, zone, output } = others;
  if (
    allMeshes ||
    lost ||
    [containing, generator, service, zone].some((one) => one !== undefined) ||
    output !== 'table'
  )
    throw new UsageError('--hosts prints all hostnames of a mesh: it goes with --mesh alone');
  const { rest } = await context.api();
  const text = await rest.text(discoverHosts, { query: mesh === '' ? {} : { mesh } });
  context.print(text.trimEnd());
  return 0;
}

function isWanted(claim: HostnameClaim, { generator, service, lost }: HostnamesOptions): boolean {
  if (lost && claim.status === 'Available') return false;
  if (generator !== undefined && claim.generator.name !== generator) return false;
  return service === undefined || claim.service.name === service;
}

/** Formats claims as a table; wide: with the reason of unavailable ones. */
export function claimTable(
  context: CommandContext,
  claims: readonly ClaimedHostname[],
  { wide, meshes }: { readonly wide: boolean; readonly meshes: boolean },
): string {
  const head = [...(meshes ? ['MESH'] : []), 'HOSTNAME', 'STATUS', 'SERVICE', 'GENERATOR', ...(wide ? ['REASON'] : [])];
  const rows = inLines(claims).map(({ mesh, hostname, claim }) => [
    ...(meshes ? [mesh] : []),
    hostname,
    context.paint(chooseColour(claim.status), claim.status),
    serviceName(claim),
    claim.generator.name,
    ...(wide ? [claim.reason ?? ''] : []),
  ]);
  return table(head, rows);
}

/** `causeway hostnames`. */
export function registerHostnames(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('hostnames')
    .description('lists the hostnames of a mesh, who has them and who lost them')
    .argument('[text]', 'only hostnames that contain it')
    .addOption(meshOption())
    .option('-A, --all-meshes', 'over all meshes')
    .option('--generator <name>', 'only those of a HostnameGenerator')
    .option('--service <name>', 'only those that a service claims')
    .option('--hosts', 'with their virtual IPs, in the form of /etc/hosts (asks a zone)')
    .option('--lost', 'only claims that are NotAvailable')
    .option('-z, --zone <zone>', 'on the global: as this zone sees them; else as each zone reported its own services')
    .addOption(
      new Option('-o, --output <form>', 'form of the output; wide tells why a name is lost')
        .choices(['table', 'wide', 'yaml', 'json'])
        .default('table'),
    )
    .action(async (text: string | undefined, options: HostnamesOptions) =>
      finish(await hostnames(context, text, options)),
    );
}
