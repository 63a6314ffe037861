import { nearest } from '@causeway/resources';
import { Command } from 'commander';
import { registerApply } from './commands/apply';
import { registerDelete } from './commands/delete';
import { registerDescribe } from './commands/describe/describe';
import { registerDig } from './commands/dig';
import { registerDoctor } from './commands/doctor';
import { registerExplain } from './commands/explain/explain';
import { registerGet } from './commands/get/get';
import { registerTokens } from './commands/tokens';
import { registerVips } from './commands/vips';
import { registerZones } from './commands/zones/zones';
import type { CommandContext } from './context';
import type { RegisterCommand, SetExitCode } from './options';

/** The commands in the order of the help, below the heading of their group. */
const groups: readonly { readonly heading: string; readonly commands: readonly RegisterCommand[] }[] = [
  { heading: 'Look:', commands: [registerGet, registerDescribe] },
  { heading: 'Change:', commands: [registerApply, registerDelete] },
  { heading: 'Names and addresses:', commands: [registerExplain, registerDig, registerVips] },
  { heading: 'Zones and access:', commands: [registerZones, registerTokens] },
  { heading: 'This program and its servers:', commands: [registerDoctor] },
];

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
  for (const { heading, commands } of groups) {
    program.commandsGroup(heading);
    for (const register of commands) register(program, context, finish);
  }
  addHelp(program);
  return program;
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
