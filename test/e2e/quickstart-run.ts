import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ADMIN_TOKEN } from '../support/admin-credential';
import { demoNetwork } from '../support/loopback-networks';
import { markedProcesses, type MarkedProcess } from '../support/marked-processes';
import { until } from '../support/until';

const REPO = resolve(__dirname, '..', '..');

/** Loopback addresses that no other test has. */
export const { prefix: NETWORK } = demoNetwork();

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
  const access = {
    CAUSEWAY_OPERATOR_TOKEN: ADMIN_TOKEN,
    // Not those of the person who runs the tests.
    CAUSEWAY_CONTEXTS_FILE: join(own['CAUSEWAY_DATA_DIR'] ?? tmpdir(), 'contexts.json'),
  };
  return { ...Object.fromEntries([...inherited, ...ports]), CAUSEWAY_DEMO_NETWORK: NETWORK, ...access, ...own };
}

/** The state of each part, from the text of `npm run -s demo:status`. */
export function statesOf(text: string): ReadonlyMap<string, string> {
  const rows = text.split('\n').map((line) => line.trim().split(/ {2,}/));
  return new Map(rows.map(([name = '', state = '']) => [name, state]));
}

/** One run of the starter, from its command to the end of its last process. */
export class QuickstartRun {
  private readonly environment: NodeJS.ProcessEnv;
  private readonly mark = `QUICKSTART_RUN=${randomBytes(8).toString('hex')}`;
  private readonly child: ChildProcess;
  /** The exit code, once it has ended. */
  readonly exit: Promise<number | null>;
  output = '';

  constructor(command: readonly [string, ...string[]], own: Readonly<Record<string, string>>) {
    const [program, ...args] = command;
    const [name = '', value = ''] = this.mark.split('=');
    this.environment = environment({ ...own, [name]: value });
    this.child = spawn(program, args, {
      cwd: REPO,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
    this.exit = new Promise((done) => this.child.once('close', (code) => done(code)));
  }

  /** Resolves when everything is running; fails with the output if it ends before. */
  async untilRunning(): Promise<void> {
    const ended = this.exit.then((code) => Promise.reject(new Error(`it ended with ${code}:\n${this.output}`)));
    const running = until('the quickstart runs', () => this.output.includes('\nRunning.'), 240_000);
    await Promise.race([running, ended]);
  }

  /** The REST address of a control plane, as printed. */
  restUrl(name: string): string {
    const url = new RegExp(`^ {2}${name} +(http://\\S+)`, 'm').exec(this.output)?.[1];
    if (url === undefined) throw new Error(`no address of ${name} in:\n${this.output}`);
    return url;
  }

  /** Runs `npm run -s demo:…` and returns its standard output and exit code. */
  async demo(...args: readonly string[]): Promise<{ readonly code: number | null; readonly text: string }> {
    const program = resolve(REPO, 'scripts', 'demo.mjs');
    const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
    const child = spawn(process.execPath, [program, ...args], { cwd: REPO, env: this.environment, stdio });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, text };
  }

  /** Runs a command of a page in the checkout, with the settings of this run; fails with its output unless it ends with 0. */
  async shell(command: string): Promise<string> {
    // Its user has no token at hand: the command line tool finds the demo's by its contexts.
    const { CAUSEWAY_OPERATOR_TOKEN: _, ...env } = this.environment;
    const child = spawn('bash', ['-c', command], {
      cwd: REPO,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`${command}: ${code}\n${text}`);
    return text;
  }

  /** The state of each part, as `npm run -s demo:status` prints it: asked of the same server, without a process for each look. */
  async states(): Promise<ReadonlyMap<string, string>> {
    const file = join(this.environment['CAUSEWAY_DATA_DIR'] ?? '', 'demo.json');
    const { url, secret } = JSON.parse(readFileSync(file, 'utf8')) as { readonly url: string; readonly secret: string };
    const answer = await fetch(`${url}/status`, { headers: { authorization: secret } });
    return statesOf(await answer.text());
  }

  /** Ends some of its parts at once. */
  async kill(...parts: readonly string[]): Promise<void> {
    const states = await this.states();
    for (const part of parts) {
      const pid = /pid (\d+)$/.exec(states.get(part) ?? '')?.[1];
      if (pid === undefined) throw new Error(`${part} does not run:\n${this.output}`);
      process.kill(Number(pid), 'SIGKILL');
    }
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
