import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** What a candidate says of itself. */
export interface CandidateEvent {
  readonly event: 'ready' | 'lead' | 'end';
  readonly epoch: number;
}

export interface CandidateSettings {
  readonly database: string;
  readonly redis: string;
  readonly leaseMs: number;
  readonly onEvent: (candidate: CandidateProcess, event: CandidateEvent) => void;
}

const ROOT = join(__dirname, '../../..');

/** A candidate in a process of its own, which can be stopped at any moment. */
export class CandidateProcess {
  readonly holder = randomUUID();
  ready = false;
  private readonly child: ChildProcessByStdio<Writable, Readable, null>;
  private readonly exited: Promise<void>;
  private ended = false;

  constructor({ database, redis, leaseMs, onEvent }: CandidateSettings) {
    const program = ['-r', './bench/register.cjs', 'test/chaos/leader/candidate.ts'];
    this.child = spawn(process.execPath, [...program, database, redis, String(leaseMs), this.holder], {
      cwd: ROOT,
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

  /** Ends its term, and lets it stand for the next. */
  stepDown(): void {
    this.child.stdin.write('step down\n');
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
