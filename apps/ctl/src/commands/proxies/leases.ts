import type { JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import type { CommandContext } from '../../context';
import { outputOption, type SetExitCode } from '../../options';
import { age, listAt, objectAt, structured, table, textAt, type Output } from '../../render';

interface LeasesOptions {
  readonly output: Output;
}

/** `causeway leases`: the leases of agents on the Dataplanes of the zone, and whether a mass end is held. */
async function showLeases(context: CommandContext, { output }: LeasesOptions): Promise<number> {
  const { rest } = await context.api();
  const items = await rest.items({ path: '/_leases' });
  const hold = objectAt(await rest.json({ path: '/_leases', query: { size: '1' } }), 'hold');
  if (output !== 'table') {
    context.print(structured({ items, ...(textAt(hold, 'since') === '' ? {} : { hold }) }, output));
    return 0;
  }
  if (items.length === 0) context.printError('no leases');
  else
    context.print(
      table(
        HEAD,
        items.map((item) => row(item, context.now())),
      ),
    );
  if (textAt(hold, 'since') !== '')
    context.printError(
      `held: ${textAt(hold, 'expired')} of ${textAt(hold, 'total')} leases have ended at once; causeway leases release ends them`,
    );
  return 0;
}

const HEAD = ['MESH', 'NAMESPACE', 'NAME', 'MACHINE', 'ADDRESS', 'AGE', 'LEASE', 'READY'];

function row(lease: JsonObject, now: number): string[] {
  const checks = listAt(lease, 'checks');
  const ready = checks.filter((check) => check['ready'] === true).length;
  const end = textAt(lease, 'expiresAt');
  const isOver = Date.parse(end) <= now;
  return [
    textAt(lease, 'mesh'),
    textAt(lease, 'namespace') || 'default',
    textAt(lease, 'name'),
    textAt(lease, 'machine'),
    textAt(lease, 'address'),
    age(textAt(lease, 'since'), now),
    isOver ? `ended ${age(end, now)} ago` : 'held',
    checks.length === 0 ? '-' : `${ready}/${checks.length}`,
  ];
}

/** `causeway leases release`: what has expired until now ends, although it is much. */
async function releaseLeases(context: CommandContext, { output }: LeasesOptions): Promise<number> {
  const { rest } = await context.api();
  const answer = await rest.json({ method: 'POST', path: '/_leases/release' });
  if (output !== 'table') context.print(structured(answer, output));
  else context.print(`${textAt(answer, 'released')} expired leases are released: the leader ends them`);
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
