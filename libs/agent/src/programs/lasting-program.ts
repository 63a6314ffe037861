import { spawn, type ChildProcess } from 'node:child_process';
import { Backoff, type Clock, type Timer } from '@causeway/runtime';

/** Program that prints a line for each event, for as long as it runs. */
export interface LastingProgramOptions {
  readonly command: readonly string[];
  /** Returns whether a line of output is an event; an error message is one. */
  readonly isEvent: (line: string) => boolean;
  /** Called with each line of output. */
  readonly onLine?: (line: string) => void;
  /** Called after events, and whenever some may have been lost: when the program starts, is ready, or has ended. */
  readonly onEvent: () => void;
  readonly clock: Clock;
}

/** Environment of programs of the system. */
export const ENVIRONMENT = { PATH: '/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin:/usr/local/bin', LANG: 'C' };
/** Time after its start for which a program may not report events yet, ms. */
const START_TIME = 1_000;
const RESTART = { base: 100, cap: 30_000 };
/** Maximum length of an unfinished line, characters; the rest is discarded. */
const MAX_LINE = 64 * 1024;

/**
 * Ends the program with this process, however that ends: nothing is written to its input, which the kernel closes then. The shell holds no output,
 * so that the end of the output is the end of the program.
 */
const SUPERVISE = '"$@" & exec >&- 2>&-; read -r _; kill $!';

/** Runs a program that reports events, and starts it again when it ends. While `isRunning` is false, its user polls. */
export class LastingProgram {
  private readonly restart = new Backoff(RESTART);
  private child: ChildProcess | undefined;
  private timer: Timer | undefined;
  private isReady = false;
  private isClosed = false;

  constructor(private readonly options: LastingProgramOptions) {
    this.start();
  }

  /** Whether every event from now on is reported, unless the program hangs. */
  get isRunning(): boolean {
    return this.isReady;
  }

  /** Process id of its supervisor, for tests. */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  close(): void {
    this.isClosed = true;
    this.isReady = false;
    this.timer?.cancel();
    this.child?.stdin?.end();
  }

  private start(): void {
    const { command, onEvent, clock } = this.options;
    const child = spawn('sh', ['-c', SUPERVISE, 'sh', ...command], { env: ENVIRONMENT, stdio: 'pipe' });
    this.child = child;
    this.timer = clock.after(START_TIME, () => {
      this.isReady = true;
      this.restart.reset();
      onEvent();
    });
    for (const stream of [child.stdout, child.stderr]) this.readLines(stream.setEncoding('utf8'));
    child.once('error', () => this.ended(child));
    child.stdout.once('close', () => this.ended(child));
    child.stdin.on('error', () => undefined);
  }

  private readLines(stream: NodeJS.ReadableStream): void {
    const { isEvent, onEvent, onLine } = this.options;
    let rest = '';
    stream.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = (lines.pop() ?? '').slice(0, MAX_LINE);
      if (this.isClosed) return;
      if (onLine) lines.forEach(onLine);
      if (lines.some(isEvent)) onEvent();
    });
  }

  private ended(child: ChildProcess): void {
    if (child !== this.child) return;
    this.child = undefined;
    child.stdin?.end();
    this.timer?.cancel();
    this.isReady = false;
    if (this.isClosed) return;
    this.timer = this.options.clock.after(this.restart.next(), () => this.start());
    this.options.onEvent();
  }
}
