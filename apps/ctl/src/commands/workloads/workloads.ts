import { confirmWorkload, listWorkloads, revokeWorkload, type Workload } from '@causeway/api';
import type { Command } from 'commander';
import type { CommandContext } from '../../context';
import { meshOption, outputOption, type SetExitCode } from '../../options';
import { age, inLines, structured, table, type Output } from '../../render';

interface WorkloadsOptions {
  readonly output: Output;
}

interface WorkloadOptions extends WorkloadsOptions {
  readonly mesh: string;
  readonly namespace: string;
  readonly dryRun?: boolean;
}

const HEAD = ['MESH', 'NAMESPACE', 'NAME', 'SERVICES', 'BY', 'AGE', 'REGISTERED'];

/** `causeway workloads`: the hosts of the zone that have joined, with their grants. */
async function showWorkloads(context: CommandContext, { output }: WorkloadsOptions): Promise<number> {
  const items = await (await context.api()).rest.items(listWorkloads);
  const rows = inLines(items).map((item) => row(item, context.now()));
  if (output !== 'table') context.print(structured({ items }, output));
  else if (rows.length === 0) context.printError('no machine has joined');
  else context.print(table(HEAD, rows));
  return 0;
}

function row(
  { mesh, namespace, name, services, by, since, registered, confirmBefore }: Workload,
  now: number,
): string[] {
  return [
    mesh,
    namespace,
    name,
    services ? services.join(',') || 'none' : 'as its Dataplane',
    confirmBefore === undefined ? by : `${by}, ends ${confirmBefore} unless confirmed`,
    age(since, now),
    registered ? 'yes' : 'no',
  ];
}

/** Sentences about other zones, by `otherZones`; none if they learn of it at once, or if there are none. */
const HOW_ZONES_HEAR: Readonly<Record<string, string>> = {
  'cut off': 'this zone has no session with its global: other zones learn of it once it is connected again',
  unknown: 'whether other zones learn of it now is known to the replica that leads: causeway describe zone',
};

/** `causeway workloads revoke NAME`: ends the enrolment of a host, everywhere. */
async function revoke(context: CommandContext, name: string, options: WorkloadOptions): Promise<number> {
  const { output, dryRun = false } = options;
  const body = { ...(await identify(context, name, options)), dryRun };
  const answer = await (await context.api()).rest.call(revokeWorkload, { body });
  if (output !== 'table') {
    context.print(structured(answer, output));
    return 0;
  }
  const { mesh, namespace, services, tokens, newBundles, otherZones, ...zones } = inLines(answer);
  const verb = dryRun ? 'would be revoked' : 'is revoked';
  const serves = services.length === 0 ? '' : `, which served ${services.join(', ')}`;
  context.print(`workload ${mesh}/${namespace}/${name} ${verb}${serves}`);
  const end = dryRun ? 'would end' : 'have ended';
  context.print(`its streams, its certificates and its endpoints ${end}; tokens that ${end}: ${tokens.length}`);
  const bundles = newBundles.map((one) => one.name);
  if (bundles.length > 0) {
    const need = dryRun ? 'would need' : 'need';
    context.print(`joined with the same bundle, go on, and ${need} a new one to join again: ${bundles.join(', ')}`);
  }
  const hear = HOW_ZONES_HEAR[otherZones];
  if (hear !== undefined) context.printError(hear);
  const { disconnectedZones: away, kumaZones: kuma } = zones;
  if (away.length > 0)
    context.printError(`no session with the global: ${away.join(', ')}; each acts on it when it is back`);
  if (kuma.length > 0)
    context.printError(`zones of Kuma know no revocation, and believe a certificate until it ends: ${kuma.join(', ')}`);
  return 0;
}

/** `causeway workloads confirm NAME`: confirms an enrolment that came back by its certificate after an import. */
async function confirm(context: CommandContext, name: string, options: WorkloadOptions): Promise<number> {
  const body = await identify(context, name, options);
  const answer = await (await context.api()).rest.call(confirmWorkload, { body });
  context.print(options.output === 'table' ? `workload ${name} stands` : structured(answer, options.output));
  return 0;
}

async function identify(context: CommandContext, name: string, { mesh, namespace }: WorkloadOptions) {
  return { mesh: mesh || (await (await context.api()).rest.expectedMesh()), namespace, name };
}

/** `causeway workloads` and its subcommands. */
export function registerWorkloads(program: Command, context: CommandContext, finish: SetExitCode): void {
  const workloads = program
    .command('workloads')
    .description('shows the machines of the zone that have joined, and what they were granted')
    .addOption(outputOption())
    .action(async (options: WorkloadsOptions) => finish(await showWorkloads(context, options)));
  const named = (command: string, description: string): Command =>
    workloads
      .command(command)
      .description(description)
      .argument('<name>', 'its Dataplane')
      .addOption(meshOption())
      .option('-n, --namespace <namespace>', 'the namespace of the Dataplane', 'default')
      .addOption(outputOption());
  named('revoke', 'ends what a machine was granted: its tokens, certificates, streams and endpoints, in every zone')
    .option('--dry-run', 'only say what that would end')
    .action(async (name: string, _: WorkloadOptions, command: Command) =>
      finish(await revoke(context, name, command.optsWithGlobals<WorkloadOptions>())),
    );
  named('confirm', 'keeps a machine that came back by its certificate after an import').action(
    async (name: string, _: WorkloadOptions, command: Command) =>
      finish(await confirm(context, name, command.optsWithGlobals<WorkloadOptions>())),
  );
}
