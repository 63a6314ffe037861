#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { CommanderError, type Command } from 'commander';
import { painter } from './colour';
import { readCliConfig, type ConnectionFlags } from './config';
import type { CommandContext, ProgramContext } from './context';
import { createPrinter } from './printer';
import { addCommands, createProgram } from './program';

/** ms after which a command counts as long: it may then print nothing for hours. */
const LONG = 500;

/**
 * Runs the command line; the exit code is 0 for done, 1 for refused or failed, 2 for wrong usage, 130 for Ctrl-C. What takes
 * time to load is loaded by those commands that need it.
 */
async function main(argv: readonly string[]): Promise<void> {
  exitWhenPipeCloses();
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const { print, printError } = createPrinter(process.stdout, process.stderr);
  const config = readCliConfig();
  const program: Command = createProgram({ print, printError });
  const context: ProgramContext = {
    config,
    flags: () => program.opts<ConnectionFlags>(),
    print,
    printError,
    stdin: () => text(process.stdin),
    now: () => Date.now(),
    paint: painter(process.stdout.isTTY && config.color),
    signal: stop.signal,
    terminal: process.stdin.isTTY && process.stdout.isTTY,
  };
  let connected: CommandContext | undefined;
  const commandContext = async (): Promise<CommandContext> =>
    (connected ??= (await import('./control-plane.js')).createCommandContext(context));
  const finish = (code: number): void => void (process.exitCode = code);
  try {
    await addCommands({ program, context, commandContext, finish }, argv.slice(2));
    await program.parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) finish(error.exitCode === 0 ? 0 : 2);
    else finish((await import('./control-plane.js')).reportFailure(context, error));
  }
}

/**
 * Ends the program without a message when the reader of its output is gone, as in `causeway get dataplanes | head -1`: at
 * the next line, and during a long watch without waiting for a line.
 */
function exitWhenPipeCloses(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }
  if (isPipe(process.stdout.fd)) setTimeout(watchPipe, LONG).unref();
}

/**
 * Node does not report that the reader of a pipe is gone. GNU tail dies of SIGPIPE then, even if it writes nothing. With
 * another tail or without one, the next line that is printed detects it.
 */
function watchPipe(): void {
  const tail = spawn('tail', ['-f', '/dev/null', `--pid=${process.pid}`], { stdio: ['ignore', 'inherit', 'ignore'] });
  tail.once('error', () => undefined);
  tail.once('exit', (_, signal) => {
    if (signal === 'SIGPIPE') process.exit();
  });
  tail.unref();
  process.once('exit', () => tail.kill());
}

function isPipe(fd: number): boolean {
  try {
    return fstatSync(fd).isFIFO();
  } catch {
    return false;
  }
}

void main(process.argv);
