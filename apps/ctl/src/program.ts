import { nearest } from '@causeway/resources';
import { Command, Option } from 'commander';
import { apply, type ApplyOptions } from './commands/apply';
import { remove, type DeleteOptions } from './commands/delete';
import { describe, type DescribeOptions } from './commands/describe';
import { dig, type DigOptions } from './commands/dig';
import { doctor, type DoctorOptions } from './commands/doctor';
import { explain, type ExplainOptions } from './commands/explain';
import { get, type GetOptions } from './commands/get';
import {
  adoptZone,
  confirmGlobal,
  confirmZone,
  quarantine,
  resetEpoch,
  type QuarantineOptions,
} from './commands/zone-decisions';
import {
  issueZoneToken,
  revokeZoneToken,
  rotateZoneTokenKey,
  showAuthority,
  type ZoneTokenOptions,
} from './commands/tokens';
import { vips, type VipsOptions } from './commands/vips';
import { zones, type ZonesOptions } from './commands/zones';
import type { CommandContext } from './context';
import { outputs } from './render';

/** Where a command's exit code goes. */
export type SetExitCode = (code: number) => void;

const meshOption = (): Option => new Option('-m, --mesh <mesh>', 'the mesh').default('default');
const outputOption = (): Option =>
  new Option('-o, --output <form>', 'form of the output').choices(outputs).default('table');

/** The command line `causeway`; its nouns are the kinds of the registry. */
export function createProgram(context: CommandContext, finish: SetExitCode): Command {
  const program = new Command('causeway')
    .description('looks at and changes a Causeway control plane')
    .option('-s, --server <url>', 'REST address of a control plane (or CAUSEWAY_SERVER)')
    .option('--token <token>', 'operator token (or CAUSEWAY_OPERATOR_TOKEN)')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.printError(text.trimEnd()),
    });
  addWriting(program, context, finish);
  addReading(program, context, finish);
  addInspecting(program, context, finish);
  addZones(program, context, finish);
  addTokens(program, context, finish);
  addDoctor(program, context, finish);
  addHelp(program);
  return program;
}

function addWriting(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('apply')
    .description('creates or updates what files, folders or - (standard input) hold')
    .requiredOption('-f, --filename <path...>', 'files, folders, or -')
    .addOption(meshOption())
    .option('--dry-run', 'check everything, write nothing; of a HostnameGenerator, tell the names it would make')
    .option('--seen-from <zone>', 'with --dry-run on the global: the zone in which to look')
    .option('--prune', 'delete what carries the selector and is not in the files')
    .option('-l, --selector <labels>', 'labels that all your files carry, for --prune')
    .action(async (options: ApplyOptions) => finish(await apply(context, options)));
  program
    .command('delete')
    .description('deletes resources by name')
    .argument('<kind>', nouns(context))
    .argument('<names...>')
    .addOption(meshOption())
    .option('-n, --namespace <namespace>')
    .option('--dry-run', 'check everything, delete nothing')
    .action(async (kind: string, names: string[], options: DeleteOptions) =>
      finish(await remove(context, kind, names, options)),
    );
}

function addReading(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('get')
    .description('shows resources of a kind, or one of them')
    .argument('<kind>', nouns(context))
    .argument('[name]')
    .addOption(meshOption())
    .option('-A, --all-meshes', 'over all meshes')
    .option('-n, --namespace <namespace>')
    .option('-z, --zone <zone>', "a zone's copy; empty for the global's")
    .option('-l, --selector <labels>', 'labels, as in team=db,tier!=test')
    .addOption(outputOption())
    .option('-w, --watch', 'show every change as it comes')
    .action(async (kind: string, name: string | undefined, options: GetOptions) =>
      finish(await get(context, kind, name, options)),
    );
}

function addInspecting(program: Command, context: CommandContext, finish: SetExitCode): void {
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
  program
    .command('explain')
    .description('says who claims a hostname, who has it, and why')
    .argument('<hostname>')
    .addOption(meshOption())
    .option('-z, --zone <zone>', 'whose view; needed on the global')
    .addOption(outputOption())
    .action(async (hostname: string, options: ExplainOptions) => finish(await explain(context, hostname, options)));
  program
    .command('dig')
    .description("says what a zone's DNS answers to a name, and why")
    .argument('<name>', 'a name, or an address: who has it')
    .argument('[type]', 'A (default), AAAA, SRV, TXT, PTR, …')
    .addOption(outputOption())
    .action(async (name: string, type: string | undefined, options: DigOptions) =>
      finish(await dig(context, { name, type }, options)),
    );
  program
    .command('vips')
    .description('lists the virtual IPs of a zone')
    .addOption(meshOption())
    .option('-A, --all-meshes', 'over all meshes')
    .addOption(outputOption())
    .action(async (options: VipsOptions) => finish(await vips(context, options)));
}

function addDoctor(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('doctor')
    .description('says what is not as it should be, and what to do; exit code 1 where something is found')
    .addOption(outputOption())
    .action(async (options: DoctorOptions) => finish(await doctor(context, options)));
}

function addZones(program: Command, context: CommandContext, finish: SetExitCode): void {
  const command = program
    .command('zones')
    .description('shows how far each zone is: session, lag, rejects, versions; and what only an operator can decide')
    .addOption(outputOption())
    .action(async (options: ZonesOptions) => finish(await zones(context, options)));
  command
    .command('confirm')
    .description('accepts the new incarnation of a zone: what it lacks is deleted (on the global)')
    .argument('<name>', 'the zone')
    .action(async (name: string) => finish(await confirmZone(context, name)));
  command
    .command('confirm-global')
    .description('accepts the new incarnation of the global: what it lacks is deleted (on a zone)')
    .action(async () => finish(await confirmGlobal(context)));
  command
    .command('adopt')
    .description('binds the name of a zone to another store (on the global)')
    .argument('<name>', 'the zone')
    .argument('[store]', 'id of the store; else the one refused last')
    .action(async (name: string, store: string | undefined) => finish(await adoptZone(context, name, store)));
  command
    .command('reset-epoch')
    .description('takes the next leader of a zone whatever its epoch; its session ends (on the global)')
    .argument('<name>', 'the zone')
    .action(async (name: string) => finish(await resetEpoch(context, name)));
  command
    .command('quarantine')
    .description('keeps a zone, or some of its resources, away from the mesh (on the global)')
    .argument('<name>', 'the zone')
    .argument('[resources...]', 'as KIND/NAME; none: the whole zone')
    .option('-m, --mesh <mesh>', 'the mesh of the resources; default: default')
    .option('-n, --namespace <namespace>', 'their namespace; default: default')
    .option('--release', 'lets them in again; without resources the zone and all that was named')
    .action(async (name: string, resources: string[], options: QuarantineOptions) =>
      finish(await quarantine(context, name, resources, options)),
    );
}

function addTokens(program: Command, context: CommandContext, finish: SetExitCode): void {
  const tokens = program
    .command('tokens')
    .description('how zones join the global: tokens, their keys, its certificate');
  tokens
    .command('zone')
    .description('issues a token that lets a zone in; it is shown once')
    .argument('<name>', 'the zone')
    .requiredOption('--valid-for <duration>', 'such as 720h or 1h30m, at most 87600h')
    .option('--scope <scope...>', 'cp (the default), ingress, egress')
    .addOption(outputOption())
    .action(async (name: string, options: ZoneTokenOptions) => finish(await issueZoneToken(context, name, options)));
  tokens
    .command('revoke')
    .description('revokes a token; its zone is sent away at once')
    .argument('<id>', 'the id (jti) of the token, or the token')
    .action(async (id: string) => finish(await revokeZoneToken(context, id)));
  tokens
    .command('rotate')
    .description('makes a newer signing key')
    .action(async () => finish(await rotateZoneTokenKey(context)));
  tokens
    .command('ca')
    .description('shows the certificate that zones verify the global by')
    .action(async () => finish(await showAuthority(context)));
}

function nouns(context: CommandContext): string {
  return context.registry.kinds.map((kind) => `${kind.plural} (${kind.shortName})`).join(', ');
}

/** Adds `help [COMMAND...]` to a command and to its subcommands. An unknown command is an error of usage. */
function addHelp(command: Command): void {
  const below = [...command.commands];
  if (below.length === 0) return;
  for (const each of below) addHelp(each);
  command
    .helpCommand(false)
    .command('help')
    .argument('[command...]', 'the command')
    .description('shows how a command is used')
    .action((path: readonly string[]) => findCommand(command, path).help());
}

function findCommand(command: Command, [name, ...rest]: readonly string[]): Command {
  if (name === undefined) return command;
  const found = command.commands.find((each) => each.name() === name);
  if (found) return findCommand(found, rest);
  const names = command.commands.map((each) => each.name());
  const guess = nearest(name, names);
  return command.error(`error: unknown command '${name}'${guess === undefined ? '' : `\n(Did you mean ${guess}?)`}`);
}
