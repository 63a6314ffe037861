#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { runCommandLine } from './command-line';
import { readCliConfig } from './config';

/** The time after which a command counts as long, ms: it may then print nothing for hours. */
const LONG = 500;

async function main(argv: readonly string[]): Promise<void> {
  exitWhenPipeCloses();
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  await runCommandLine(argv, {
    config: readCliConfig(),
    out: process.stdout,
    error: process.stderr,
    stdin: () => text(process.stdin),
    signal: stop.signal,
    colored: process.stdout.isTTY,
    terminal: process.stdin.isTTY && process.stdout.isTTY,
    finish: (code) => void (process.exitCode = code),
  });
}

/**
 * Ends the program without a message when the reader of its output is gone, as in `causeway get dataplanes | head -1`: at the next line, and in a
 * long watch even without one.
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
 * Node does not report that the reader of a pipe is gone. GNU tail dies of SIGPIPE then, even if it writes nothing. With another tail or without one,
 * the next printed line detects it.
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
