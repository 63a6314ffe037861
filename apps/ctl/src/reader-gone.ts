import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';

/** A command that runs longer than this may print nothing for hours, ms. */
const LONG = 500;

/**
 * Ends the program quietly when nobody reads what it prints any more, as in `causeway get dataplanes | head -1`: at the
 * next line, and where it is a long watch, without one.
 */
export function exitWhenPipeCloses(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }
  if (isPipe(process.stdout.fd)) setTimeout(watchPipe, LONG).unref();
}

/**
 * Node does not tell when the reader of a pipe goes; GNU tail dies of SIGPIPE then, even if it has nothing to write.
 * Where there is another tail or none, the next line will tell.
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
