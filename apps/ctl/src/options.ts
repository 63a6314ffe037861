import { Option, type Command } from 'commander';
import type { CommandContext, ProgramContext } from './context';
import { outputs } from './render';

/** Where a command's exit code goes. */
export type SetExitCode = (code: number) => void;

/** Adds a command, or a group of them, to the command line. */
export type RegisterCommand = (program: Command, context: CommandContext, finish: SetExitCode) => void;

/** As `RegisterCommand`, for a command that starts without kinds and without a client. */
export type RegisterLightCommand = (program: Command, context: ProgramContext, finish: SetExitCode) => void;

/** `-m, --mesh`: the mesh of what a command works with. */
export const meshOption = (): Option => new Option('-m, --mesh <mesh>', 'the mesh').default('default');

/** `-o, --output`: table, YAML or JSON. */
export const outputOption = (): Option =>
  new Option('-o, --output <form>', 'form of the output').choices(outputs).default('table');

/** The kinds that a command takes as nouns, for its help. */
export function nouns({ registry }: CommandContext): string {
  return registry.kinds.map((kind) => `${kind.plural} (${kind.shortName})`).join(', ');
}

/** `-n, --namespace`. */
export const namespaceOption = (): Option => new Option('-n, --namespace <namespace>', 'the namespace');

/** `-z, --zone`: the name of a zone, or `global` for the global's own, which the server names by an empty text. */
export const zoneOption = (description = "a zone's copy; 'global' for the global's own"): Option =>
  new Option('-z, --zone <zone>', description).argParser((zone) => (zone === 'global' ? '' : zone));

/** The values of an option that is given more than once, or with several separated by commas. */
export function listed(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(',').filter((part) => part !== '')];
}
