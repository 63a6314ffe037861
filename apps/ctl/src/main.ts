#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { CommanderError, type Command } from 'commander';
import { coreKinds } from '@causeway/kinds';
import { ApiClient, ApiError, parseServer } from './api-client';
import { readCliConfig } from './config';
import { UsageError, type CommandContext } from './context';
import { DocumentError } from './documents';
import { createProgram } from './program';
import { exitWhenPipeCloses } from './reader-gone';

/** Runs the command line; the exit code is 0 done, 1 refused or failed, 2 misused. */
async function main(argv: readonly string[]): Promise<void> {
  exitWhenPipeCloses();
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const config = readCliConfig();
  const context: CommandContext = {
    api: () => clientFor(program, config),
    registry: coreKinds,
    print: (line) => void process.stdout.write(`${line}\n`),
    complain: (line) => void process.stderr.write(`${line}\n`),
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
  const { server, token } = program.opts<{ server?: string; token?: string }>();
  const given = server ?? config.server;
  const url = parseServer(given);
  if (!url) throw new UsageError(`"${given}" is no address of a server; it looks like http://127.0.0.1:5681`);
  return new ApiClient(url, token ?? config.token);
}

function report(context: CommandContext, error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError || error instanceof DocumentError) {
    context.complain(error.message);
    return 2;
  }
  if (!(error instanceof ApiError)) throw error;
  if (error.violations.length === 0 || error.message !== '') context.complain(error.message);
  for (const { field, reason } of error.violations) context.complain(`  ${field}: ${reason}`);
  return 1;
}

void main(process.argv);
