import { CommanderError, type Command } from 'commander';
import { painter } from './colour';
import type { ConnectionFlags } from './config';
import type { CommandContext, ProgramContext } from './context';
import type { SetExitCode } from './options';
import { createPrinter, type Output } from './printer';
import { addCommands, createProgram } from './program';

/** Host of the command line: a process of its own, or one that runs many (test/ctl/run-causeway.ts). */
export interface CommandLineHost extends Pick<ProgramContext, 'config' | 'stdin' | 'signal' | 'terminal'> {
  readonly out: Output;
  readonly error: Output;
  /** True if the output goes to a terminal, which shows colours. */
  readonly colored: boolean;
  readonly finish: SetExitCode;
}

/**
 * Runs the command line; the exit code is 0 for success, 1 for a refusal or failure, 2 for wrong usage, 130 for Ctrl-C. Slow modules are loaded only
 * by the commands that need them. Rejects on a bug.
 */
export async function runCommandLine(argv: readonly string[], host: CommandLineHost): Promise<void> {
  const { config, stdin, signal, terminal, finish } = host;
  const { print, printError } = createPrinter(host.out, host.error);
  const program: Command = createProgram({ print, printError });
  const context: ProgramContext = {
    config,
    flags: () => program.opts<ConnectionFlags>(),
    print,
    printError,
    stdin,
    now: () => Date.now(),
    paint: painter(host.colored && config.color),
    signal,
    terminal,
  };
  let connected: CommandContext | undefined;
  const commandContext = async (): Promise<CommandContext> =>
    (connected ??= (await import('./control-plane.js')).createCommandContext(context));
  try {
    await addCommands({ program, context, commandContext, finish }, argv.slice(2));
    await program.parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) finish(error.exitCode === 0 ? 0 : 2);
    else finish((await import('./control-plane.js')).reportFailure(context, error));
  } finally {
    await connected?.close();
  }
}
