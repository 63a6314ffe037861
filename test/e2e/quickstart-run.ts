import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { markedProcesses, type MarkedProcess } from '../support/marked-processes';
import { until } from '../support/until';

const REPO = resolve(__dirname, '..', '..');

/** Every port free, nothing of this machine's settings. */
function environment(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(CAUSEWAY_|npm_)/.test(name) && !['DATABASE_URL', 'REDIS_URL'].includes(name),
  );
  const ports = [
    'POSTGRES',
    'GLOBAL_REST',
    'GLOBAL_GRPC',
    'GLOBAL_DIAGNOSTICS',
    'GLOBAL_KDS',
    'EAST_REST',
    'EAST_GRPC',
    'EAST_DIAGNOSTICS',
    'EAST_DNS',
    'EAST_XDS',
    'WEST_REST',
    'WEST_GRPC',
    'WEST_DIAGNOSTICS',
    'WEST_DNS',
    'WEST_XDS',
  ].map((name) => [`CAUSEWAY_${name}_PORT`, '0']);
  return { ...Object.fromEntries([...inherited, ...ports]), ...own };
}

/** One run of the starter, from its command to the end of its last process. */
export class QuickstartRun {
  private readonly mark = `QUICKSTART_RUN=${randomBytes(8).toString('hex')}`;
  private readonly child: ChildProcess;
  /** The exit code, once it has ended. */
  readonly exit: Promise<number | null>;
  output = '';

  constructor(command: readonly [string, ...string[]], own: Readonly<Record<string, string>>) {
    const [program, ...args] = command;
    const [name = '', value = ''] = this.mark.split('=');
    this.child = spawn(program, args, {
      cwd: REPO,
      env: environment({ ...own, [name]: value }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
    this.exit = new Promise((done) => this.child.once('exit', (code) => done(code)));
  }

  /** Resolves when everything is shown; fails with what it printed when it ends before. */
  async untilRunning(): Promise<void> {
    const ended = this.exit.then((code) => Promise.reject(new Error(`it ended with ${code}:\n${this.output}`)));
    const running = until('the quickstart runs', () => this.output.includes('\nRunning.'), 180_000);
    await Promise.race([running, ended]);
  }

  /** The REST address of a control plane, as printed. */
  restUrl(name: string): string {
    const url = new RegExp(`^ {2}${name} +(http://\\S+)`, 'm').exec(this.output)?.[1];
    if (url === undefined) throw new Error(`no address of ${name} in:\n${this.output}`);
    return url;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** The processes that it started and that still run, itself included. */
  processes(): readonly MarkedProcess[] {
    return markedProcesses(this.mark);
  }

  /** Resolves when no process that it started runs. */
  async untilGone(): Promise<void> {
    await until('every process has ended', () => this.processes().length === 0);
  }
}
