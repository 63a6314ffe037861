import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { bundleProgram, type BundledProgram } from '../../support/bundled-program';

/** An event that a candidate reports. */
export interface CandidateEvent {
  /** `wrote` and `fenced`: what became of the write that followed a hold of its event loop. */
  readonly event: 'ready' | 'lead' | 'end' | 'wrote' | 'fenced';
  readonly epoch: number;
}

export interface CandidateSettings {
  /** The file of `bundleCandidate`. */
  readonly program: string;
  readonly database: string;
  readonly redis: string;
  readonly leaseMs: number;
  /** Time for which its event loop may stand still, ms; 15 s unless given. */
  readonly stallMs?: number;
  readonly onEvent: (candidate: CandidateProcess, event: CandidateEvent) => void;
}

/** Makes the program of all candidates of a file of tests. */
export const bundleCandidate = (): Promise<BundledProgram> => bundleProgram('test/chaos/leader/candidate.ts');

/** A candidate in a process of its own, which can be stopped at any moment. */
export class CandidateProcess {
  readonly holder = randomUUID();
  ready = false;
  private readonly child: ChildProcessByStdio<Writable, Readable, null>;
  private readonly exited: Promise<void>;
  private ended = false;

  constructor({ program, database, redis, leaseMs, stallMs = 15_000, onEvent }: CandidateSettings) {
    this.child = spawn(process.execPath, [program, database, redis, String(leaseMs), this.holder, String(stallMs)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.child.stdin.on('error', () => undefined);
    this.exited = new Promise((resolve) =>
      this.child.once('exit', () => {
        this.ended = true;
        resolve();
      }),
    );
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as CandidateEvent;
      this.ready = true;
      onEvent(this, event);
    });
  }

  get alive(): boolean {
    return !this.ended;
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(name);
  }

  /** Ends its term, and lets it be a candidate for the next. */
  stepDown(): void {
    this.child.stdin.write('step down\n');
  }

  /** Holds its event loop for `ms`, and then writes in the name of its term at once. */
  hold(ms: number): void {
    this.child.stdin.write(`hold ${ms}\n`);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  /** Lets it hand over and end. */
  async end(): Promise<void> {
    this.signal('SIGCONT');
    this.child.stdin.end();
    await this.exited;
  }
}
