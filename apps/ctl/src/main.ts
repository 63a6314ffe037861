#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { coreKinds } from '@causeway/kinds';
import { CommanderError, type Command } from 'commander';
import { ApiClient, ApiError } from './api-client';
import { readCliConfig } from './config';
import { UsageError, type CommandContext } from './context';
import { DocumentError } from './documents';
import { createProgram } from './program';
import { connectionOf, type ConnectionFlags } from './settings/connection';

/** ms after which a command counts as long: it may then print nothing for hours. */
const LONG = 500;

/** Runs the command line; the exit code is 0 for done, 1 for refused or failed, 2 for wrong usage. */
async function main(argv: readonly string[]): Promise<void> {
  exitWhenPipeCloses();
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const config = readCliConfig();
  const context: CommandContext = {
    api: () => clientFor(program, config),
    registry: coreKinds,
    print: (line) => void process.stdout.write(`${line}\n`),
    printError: (line) => void process.stderr.write(`${line}\n`),
    stdin: () => text(process.stdin),
    now: () => Date.now(),
    signal: stop.signal,
  };
  const program = createProgram(context, (code) => void (process.exitCode = code));
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(context, error);
  }
}

function clientFor(program: Command, config: ReturnType<typeof readCliConfig>): ApiClient {
  return new ApiClient(connectionOf(config, program.opts<ConnectionFlags>()));
}

function report(context: CommandContext, error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError || error instanceof DocumentError) {
    context.printError(error.message);
    return 2;
  }
  if (!(error instanceof ApiError)) throw error;
  if (error.violations.length === 0 || error.message !== '') context.printError(error.message);
  for (const { field, reason } of error.violations) context.printError(`  ${field}: ${reason}`);
  return 1;
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
