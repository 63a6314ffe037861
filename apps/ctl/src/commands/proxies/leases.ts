import { listLeases, releaseLeases as release, type AgentLease } from '@causeway/api';
import type { Command } from 'commander';
import type { CommandContext } from '../../context';
import { outputOption, type SetExitCode } from '../../options';
import { age, inLines, structured, table, type Output } from '../../render';

interface LeasesOptions {
  readonly output: Output;
}

/** `causeway leases`: the leases of agents on the Dataplanes of the zone, and whether a mass end is held. */
async function showLeases(context: CommandContext, { output }: LeasesOptions): Promise<number> {
  const { rest } = await context.api();
  const items = await rest.items(listLeases);
  const { hold } = await rest.call(listLeases, { query: { size: 1 } });
  if (output !== 'table') {
    context.print(structured({ items, ...(hold ? { hold } : {}) }, output));
    return 0;
  }
  const rows = inLines(items).map((item) => row(item, context.now()));
  if (rows.length === 0) context.printError('no leases');
  else context.print(table(HEAD, rows));
  if (hold)
    context.printError(
      `held: ${hold.expired} of ${hold.total} leases have ended at once; causeway leases release ends them`,
    );
  return 0;
}

const HEAD = ['MESH', 'NAMESPACE', 'NAME', 'MACHINE', 'ADDRESS', 'AGE', 'LEASE', 'READY'];

function row(lease: AgentLease, now: number): string[] {
  const { mesh, namespace, name, machine, address, since, expiresAt, checks } = lease;
  const ready = checks.filter((check) => check.ready).length;
  const isOver = Date.parse(expiresAt) <= now;
  return [
    mesh,
    namespace || 'default',
    name,
    machine,
    address,
    age(since, now),
    isOver ? `ended ${age(expiresAt, now)} ago` : 'held',
    checks.length === 0 ? '-' : `${ready}/${checks.length}`,
  ];
}

/** `causeway leases release`: ends the leases that have expired so far, even if they are many. */
async function releaseLeases(context: CommandContext, { output }: LeasesOptions): Promise<number> {
  const answer = await (await context.api()).rest.call(release);
  if (output !== 'table') context.print(structured(answer, output));
  else context.print(`${answer.released} expired leases are released: the leader ends them`);
  return 0;
}

/** `causeway leases` and `causeway leases release`. */
export function registerLeases(program: Command, context: CommandContext, finish: SetExitCode): void {
  const leases = program
    .command('leases')
    .description('shows the leases of agents: machine, since when, how many of their services are ready')
    .addOption(outputOption())
    .action(async (options: LeasesOptions) => finish(await showLeases(context, options)));
  leases
    .command('release')
    .description('ends the leases that have expired, although many end at once')
    .addOption(outputOption())
    .action(async (_: LeasesOptions, command: Command) =>
      finish(await releaseLeases(context, command.optsWithGlobals<LeasesOptions>())),
    );
}
