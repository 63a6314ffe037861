import type { JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import type { CommandContext } from '../../context';
import { meshOption, outputOption, type SetExitCode } from '../../options';
import { age, listAt, structured, table, textAt, textsAt, type Output } from '../../render';

interface WorkloadsOptions {
  readonly output: Output;
}

interface WorkloadOptions extends WorkloadsOptions {
  readonly mesh: string;
  readonly namespace: string;
  readonly dryRun?: boolean;
}

const HEAD = ['MESH', 'NAMESPACE', 'NAME', 'SERVICES', 'BY', 'AGE', 'REGISTERED'];

/** `causeway workloads`: the machines of the zone that have joined, and what they were granted. */
async function listWorkloads(context: CommandContext, { output }: WorkloadsOptions): Promise<number> {
  const items = await (await context.api()).rest.items({ path: '/_workloads' });
  if (output !== 'table') context.print(structured({ items }, output));
  else if (items.length === 0) context.printError('no machine has joined');
  else
    context.print(
      table(
        HEAD,
        items.map((item) => row(item, context.now())),
      ),
    );
  return 0;
}

function row(item: JsonObject, now: number): string[] {
  const until = textAt(item, 'confirmBefore');
  return [
    textAt(item, 'mesh'),
    textAt(item, 'namespace'),
    textAt(item, 'name'),
    item['services'] === undefined ? 'as its Dataplane' : textsAt(item, 'services').join(',') || 'none',
    until === '' ? textAt(item, 'by') : `${textAt(item, 'by')}, ends ${until} unless confirmed`,
    age(textAt(item, 'since'), now),
    item['registered'] === true ? 'yes' : 'no',
  ];
}

/** Sentences about the other zones, by `otherZones`; none if they learn it at once, or if there are none. */
const HOW_ZONES_HEAR: Readonly<Record<string, string>> = {
  'cut off': 'this zone has no session with its global: other zones learn of it once it is connected again',
  unknown: 'whether other zones learn of it now is known to the replica that leads: causeway describe zone',
};

/** `causeway workloads revoke NAME`: ends what a machine was granted, everywhere. */
async function revokeWorkload(context: CommandContext, name: string, options: WorkloadOptions): Promise<number> {
  const { output, dryRun = false } = options;
  const answer = await send(context, 'revocations', name, { ...options, dryRun });
  if (output !== 'table') {
    context.print(structured(answer, output));
    return 0;
  }
  const verb = dryRun ? 'would be revoked' : 'is revoked';
  const services = textsAt(answer, 'services');
  const serves = services.length === 0 ? '' : `, which served ${services.join(', ')}`;
  context.print(`workload ${textAt(answer, 'mesh')}/${textAt(answer, 'namespace')}/${name} ${verb}${serves}`);
  const end = dryRun ? 'would end' : 'have ended';
  context.print(
    `its streams, its certificates and its endpoints ${end}; tokens that ${end}: ${textsAt(answer, 'tokens').length}`,
  );
  const bundles = namesAt(answer, 'newBundles');
  if (bundles.length > 0) {
    const need = dryRun ? 'would need' : 'need';
    context.print(`joined with the same bundle, go on, and ${need} a new one to join again: ${bundles.join(', ')}`);
  }
  const hear = HOW_ZONES_HEAR[textAt(answer, 'otherZones')];
  if (hear !== undefined) context.printError(hear);
  const away = textsAt(answer, 'disconnectedZones');
  if (away.length > 0)
    context.printError(`no session with the global: ${away.join(', ')}; each acts on it when it is back`);
  const kuma = textsAt(answer, 'kumaZones');
  if (kuma.length > 0)
    context.printError(`zones of Kuma know no revocation, and believe a certificate until it ends: ${kuma.join(', ')}`);
  return 0;
}

/** `causeway workloads confirm NAME`: lets stand what came back by its certificate after an import. */
async function confirmWorkload(context: CommandContext, name: string, options: WorkloadOptions): Promise<number> {
  const answer = await send(context, 'confirmations', name, options);
  context.print(options.output === 'table' ? `workload ${name} stands` : structured(answer, options.output));
  return 0;
}

async function send(
  context: CommandContext,
  path: string,
  name: string,
  { mesh, namespace, dryRun }: WorkloadOptions,
): Promise<JsonObject> {
  const { rest } = await context.api();
  const resolvedMesh = mesh || textAt(await rest.json({ path: '/_resources' }), 'defaultMesh');
  const body = { mesh: resolvedMesh, namespace, name, ...(dryRun !== undefined && { dryRun }) };
  return rest.json({ method: 'POST', path: `/_workloads/${path}`, body });
}

function namesAt(answer: JsonObject, field: string): readonly string[] {
  return listAt(answer, field).map((one) => textAt(one, 'name'));
}

/** `causeway workloads` and its subcommands. */
export function registerWorkloads(program: Command, context: CommandContext, finish: SetExitCode): void {
  const workloads = program
    .command('workloads')
    .description('shows the machines of the zone that have joined, and what they were granted')
    .addOption(outputOption())
    .action(async (options: WorkloadsOptions) => finish(await listWorkloads(context, options)));
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
      finish(await revokeWorkload(context, name, command.optsWithGlobals<WorkloadOptions>())),
    );
  named('confirm', 'lets a machine stand that came back by its certificate after an import').action(
    async (name: string, _: WorkloadOptions, command: Command) =>
      finish(await confirmWorkload(context, name, command.optsWithGlobals<WorkloadOptions>())),
  );
}
