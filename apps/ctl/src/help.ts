import { nearest } from '@causeway/resources';
import type { Command } from 'commander';

/** Adds `help [COMMAND...]` to a command and to those below it; one that does not exist is a mistake of the user. */
export function addHelp(command: Command): void {
  const below = [...command.commands];
  if (below.length === 0) return;
  for (const each of below) addHelp(each);
  command
    .helpCommand(false)
    .command('help')
    .argument('[command...]', 'the command')
    .description('shows how a command is used')
    .action((path: readonly string[]) => find(command, path).help());
}

function find(command: Command, [name, ...rest]: readonly string[]): Command {
  if (name === undefined) return command;
  const found = command.commands.find((each) => each.name() === name);
  if (found) return find(found, rest);
  const names = command.commands.map((each) => each.name());
  const guess = nearest(name, names);
  return command.error(`error: unknown command '${name}'${guess === undefined ? '' : `\n(Did you mean ${guess}?)`}`);
}
