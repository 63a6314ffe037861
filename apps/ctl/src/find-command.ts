import { nearest } from '@causeway/resources';
import type { Command } from 'commander';

/** The command at a path of names below `command`. An unknown name is an error of usage, with the nearest name there is. */
export function findCommand(command: Command, [name, ...rest]: readonly string[]): Command {
  if (name === undefined) return command;
  const found = command.commands.find((each) => each.name() === name);
  if (found) return findCommand(found, rest);
  const names = command.commands.map((each) => each.name());
  const guess = nearest(name, names);
  return command.error(`error: unknown command '${name}'${guess === undefined ? '' : `\n(Did you mean ${guess}?)`}`);
}
