import { nearest } from '@causeway/resources';
import { Option, type Command } from 'commander';
import { UsageError, type CommandContext, type ProgramContext } from './context';
import { outputs } from './render';

/** Sets the exit code of the program. */
export type SetExitCode = (code: number) => void;

/** Registers a command or a group of commands. */
export type RegisterCommand = (program: Command, context: CommandContext, finish: SetExitCode) => void;

/** Registers a command that needs neither kinds nor a client. */
export type RegisterLightCommand = (program: Command, context: ProgramContext, finish: SetExitCode) => void;

/** `-m, --mesh`: the mesh of a command; empty by default: the one that the control plane expects. */
export const meshOption = (): Option =>
  new Option('-m, --mesh <mesh>', 'the mesh').default('', 'what the control plane expects');

/** `-o, --output`: table, YAML or JSON. */
export const outputOption = (): Option =>
  new Option('-o, --output <form>', 'form of the output').choices(outputs).default('table');

/** Returns the kinds that a command accepts as nouns, for its help. */
export function nouns({ registry }: CommandContext): string {
  return registry.kinds.map((kind) => `${kind.plural} (${kind.shortName})`).join(', ');
}

/** `-n, --namespace`. */
export const namespaceOption = (): Option => new Option('-n, --namespace <namespace>', 'the namespace');

/** `-z, --zone`: the name of a zone, or `global` for the global's own, which is an empty text for the server. */
export const zoneOption = (description = "a zone's copy; 'global' for the global's own"): Option =>
  new Option('-z, --zone <zone>', description).argParser((zone) => (zone === 'global' ? '' : zone));

/** Collects the values of an option that is repeatable and accepts several values separated by commas. */
export function listed(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(',').filter((part) => part !== '')];
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Parses a duration such as `30d`, `1h30m` or `90s` to seconds; digits alone are seconds. Throws UsageError for other text. */
export function parseSeconds(text: string, flag: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const parts = [...text.matchAll(/(\d{1,9})([smhdw])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text)
    throw new UsageError(`${flag}: "${text}" is no duration; write it like 30d, 12h, 1h30m or 90s`);
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}

/** Returns the command at a path of names below `command`. An unknown name is a usage error that suggests the nearest name. */
export function findCommand(command: Command, [name, ...rest]: readonly string[]): Command {
  if (name === undefined) return command;
  const found = command.commands.find((each) => each.name() === name);
  if (found) return findCommand(found, rest);
  const names = command.commands.map((each) => each.name());
  const guess = nearest(name, names);
  return command.error(`error: unknown command '${name}'${guess === undefined ? '' : `\n(Did you mean ${guess}?)`}`);
}
