import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { AgentStatus } from '@causeway/agent/testing';
import { programToStart, programTree } from './built-programs';
import { endsWithProgram } from './ends-with-program';
import { until } from './until';

/** The hosts of most tests are addresses of loopback, where an agent dials nothing by preset: the two halves override `!127.0.0.0/8`. */
const TEST_MACHINES = ['default', '127.0.0.0/9', '127.128.0.0/9', '::1'];

/** The program `causeway-agent run`, or `ingress`, with a configuration of a test, in a folder of its own. Needs a build. */
export class AgentProcess {
  private child: ChildProcess | undefined;
  private said = '';
  /** The tree in which the program was built; another one may be set between an end and a start. */
  root = programTree();

  constructor(
    readonly folder: string,
    private config: object,
    /** Words before each of its commands, such as `nsenter` with its arguments. */
    private readonly enter: readonly string[] = [],
  ) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.write(config);
  }

  get state(): string {
    return join(this.folder, 'state');
  }

  get file(): string {
    return join(this.folder, 'agent.yaml');
  }

  /** Returns the settings of its file. */
  get settings(): object {
    return this.config;
  }

  /** Its log so far. */
  get log(): string {
    return this.said;
  }

  get isRunning(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null;
  }

  /** Puts another configuration into its file, or a text that is none. */
  write(config: object | string): void {
    if (typeof config !== 'string') this.config = config;
    // An earlier version knows no `mayDial`.
    const own = existsSync(join(this.root, 'libs', 'agent', 'src', 'dial')) ? { mayDial: TEST_MACHINES } : {};
    writeFileSync(this.file, typeof config === 'string' ? config : stringify({ ...own, ...config }));
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const command = 'ingress' in this.config ? 'ingress' : 'run';
    this.write(this.config);
    const child = this.spawn([command, '-f', this.file, '--state', this.state]);
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (this.said = `${this.said}${text.toString()}`.slice(-20_000)));
    const closed = once(child, 'close');
    await until('the agent answers', async () => {
      if (!this.isRunning) {
        // All of its output; an Envoy that it has started may keep its output open.
        await Promise.race([closed, pause(10_000, undefined, { ref: false })]);
        throw new Error(`the agent has ended: ${this.said}`);
      }
      return (await this.status())?.pid === child.pid;
    });
  }

  /** Runs a command of `causeway-agent` and returns its output and exit code. */
  async command(...args: string[]): Promise<{ readonly code: number | null; readonly text: string }> {
    const child = this.spawn([...args, '--state', this.state]);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (text += part.toString()));
    // Its output is read to the end.
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, text };
  }

  /** Undefined while it does not answer. */
  async status(): Promise<AgentStatus | undefined> {
    const socketPath = join(this.state, 'agent.sock');
    if (!existsSync(socketPath)) return undefined;
    return new Promise((done) => {
      const asked = request({ socketPath, path: '/status' }, (answer) => {
        let text = '';
        answer.on('data', (part: Buffer) => (text += part.toString()));
        answer.on('end', () => done(JSON.parse(text) as AgentStatus));
      });
      asked.on('error', () => done(undefined));
      asked.end();
    });
  }

  private spawn(args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
    const [program = '', ...rest] = [...this.enter, process.execPath, programToStart('agent', this.root), ...args];
    return endsWithProgram(spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** Sends a signal and resolves with the exit code when it has ended. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const { child } = this;
    if (!child || !this.isRunning) return child?.exitCode ?? null;
    const over = once(child, 'exit');
    child.kill(signal);
    const [code] = (await over) as [number | null];
    return code;
  }
}
