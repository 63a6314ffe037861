import {
  applySteps,
  KnownZone,
  loadConfig,
  ResolverSetup,
  type MachineResolver,
  type SetupPlan,
  type SetupStep,
} from '@causeway/agent';
import { Invalid } from '@causeway/resources';
import { Option, type Command } from 'commander';
import type { AgentContext } from './commands';

type DnsFields = ConstructorParameters<typeof ResolverSetup>[0]['dns'];

interface DnsFlags {
  readonly file?: string;
  readonly root: string;
  readonly resolver?: MachineResolver;
  readonly dryRun?: boolean;
}

const NO_DNS: DnsFields = { address: '127.0.0.1', port: 53, suffixes: [], upstream: [] };

/** Adds `dns install` and `dns uninstall`; `finish` gets the exit code: 0 done, 1 refused, 2 wrong usage. */
export function registerDns(program: Command, context: AgentContext, finish: (code: number) => void): void {
  const dns = program.command('dns').description("points this machine's resolver to the agent's DNS, and back");
  const option = (command: Command): Command =>
    command
      .option('--dry-run', 'shows what would be written')
      .option('--root <folder>', 'a folder that stands for /', '/');
  option(dns.command('install').description('systemd-resolved by a file of its own, else /etc/resolv.conf'))
    .option('-f, --file <file>', 'the configuration (default: as for run)')
    .addOption(new Option('--resolver <resolver>', 'which of them').choices(['resolved', 'resolv.conf']))
    .action(async (flags: DnsFlags) => {
      const file = flags.file ?? context.environment.file;
      if (file === undefined) {
        context.printError('there is no configuration, whose `dns` says where names are answered: name it by --file');
        return finish(2);
      }
      const loaded = loadConfig({ flags: {}, file });
      const none = ['the configuration has no `dns`: the agent answers no names'];
      const problems = loaded.ok ? (loaded.config.dns ? [] : none) : loaded.problems;
      problems.forEach((problem) => context.printError(problem));
      if (!loaded.ok || !loaded.config.dns) return finish(2);
      const zone = await KnownZone.open(loaded.config.state ?? context.environment.state);
      const { suffixes = zone.suffixes, ...of } = loaded.config.dns;
      if (!loaded.config.dns.suffixes && !zone.facts)
        context.printError(`the zone has sent no suffixes yet, ${suffixes.join(', ')} is taken: run it again later`);
      finish(await changed(context, flags, (setup) => setup.planInstall(), { ...of, suffixes }));
    });
  option(dns.command('uninstall').description('takes back what install has written')).action(async (flags: DnsFlags) =>
    finish(await changed(context, flags, (setup) => setup.planUninstall(), NO_DNS)),
  );
}

async function changed(
  { print, printError }: AgentContext,
  { root, resolver, dryRun }: DnsFlags,
  plan: (setup: ResolverSetup) => Promise<SetupPlan>,
  dns: DnsFields,
): Promise<number> {
  try {
    const { steps, next } = await plan(new ResolverSetup({ root, resolver, dns }));
    if (steps.length === 0) print('nothing is to be done');
    for (const step of steps) print(`${dryRun ? 'would ' : ''}${formatStep(step)}`);
    if (dryRun) return 0;
    await applySteps(steps);
    if (next !== undefined) print(`now run: ${next}`);
    return 0;
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    for (const { field, reason } of error.violations) printError(`${field} ${reason}`);
    return 1;
  }
}

function formatStep(step: SetupStep): string {
  switch (step.do) {
    case 'write':
      return `write ${step.path}:\n${step.text.toString().replace(/^/gm, '    ').trimEnd()}`;
    case 'rename':
      return `rename ${step.path} to ${step.to}`;
    case 'makeFolder':
      return `make the folder ${step.path}`;
    case 'remove':
      return `remove ${step.path}`;
    case 'removeFolder':
      return `remove the folder ${step.path}`;
  }
}
