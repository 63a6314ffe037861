import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ADMIN_TOKEN } from '../../support/admin-credential';
import { HostedCommands } from './hosted-commands';

const APPS = resolve(__dirname, '..', '..', '..', 'dist', 'apps');

/** The built programs that a shell has, by the folder of their app. */
const PROGRAMS = { causeway: 'ctl', 'causeway-global': 'global', 'causeway-zone': 'zone', 'causeway-agent': 'agent' };

function builtProgram(app: string): string {
  return `'${process.execPath}' '${join(APPS, app, 'src', 'main.js')}'`;
}

/** A background job and its output. */
interface Job {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

/** Options of a shell, besides the programs of this repository. */
export interface ShellOptions {
  /** Commands of the test by name: the command that a shell executes, with its arguments. */
  readonly commands?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Names in the commands of the page, and their values in this run. */
  readonly meant?: ReadonlyMap<string, string>;
  /** Runs the command line tool within this process, if it needs no process of its own. */
  readonly hosted?: boolean;
}

/** A shell with the built programs on its path, in an empty folder that is also its home. */
export class TranscriptShell {
  private readonly root = mkdtempSync(join(tmpdir(), 'causeway-cli-'));
  /** The working directory of its commands. */
  readonly folder = join(this.root, 'work');
  private job: Job | undefined;
  private readonly hosted: HostedCommands | undefined;

  /** `shown` maps each text of this run, such as the address of a server, to the text on the page. */
  constructor(
    private readonly shown: ReadonlyMap<string, string>,
    private readonly options: ShellOptions = {},
  ) {
    mkdirSync(this.folder);
    for (const [name, app] of Object.entries(PROGRAMS)) this.add(name, builtProgram(app));
    this.hosted = options.hosted ? new HostedCommands(this.root, builtProgram(PROGRAMS.causeway)) : undefined;
    this.hosted?.install(join(this.root, 'causeway'));
    for (const [name, command] of Object.entries(options.commands ?? {})) this.add(name, command);
  }

  /**
   * Runs a command against a server and returns its output, with a last line for an exit code other than 0. `COMMAND &` prints nothing; see
   * `foreground`.
   */
  async run(command: string, server: string): Promise<string> {
    const background = /^(.*\S)\s*&$/.exec(command)?.[1];
    if (background !== undefined) {
      this.job = this.start(`exec ${background}`, server);
      return '';
    }
    const { output, ended } = this.start(command, server);
    const code = await ended;
    return `${output()}${code === 0 ? '' : `exit code: ${code}\n`}`;
  }

  /** Returns the output of the background job so far. */
  foreground(): string {
    if (!this.job) throw new Error('no job runs in the background');
    return this.job.output();
  }

  /** Ends the background job, as Ctrl-C does; rejects if it does not end well. */
  async interrupt(): Promise<void> {
    const { job } = this;
    this.job = undefined;
    job?.child.kill('SIGINT');
    const code = await job?.ended;
    if (code !== undefined && code !== 0) throw new Error(`the job ended with ${code}: ${job?.output()}`);
  }

  /** Ends what runs and removes the folder. */
  async close(): Promise<void> {
    this.job?.child.kill('SIGKILL');
    await this.job?.ended;
    this.hosted?.close();
    rmSync(this.root, { recursive: true });
  }

  private add(name: string, command: string): void {
    const path = join(this.root, name);
    writeFileSync(path, `#!/bin/sh\nexec ${command} "$@"\n`);
    chmodSync(path, 0o755);
  }

  private start(said: string, server: string): Job {
    const command = [...(this.options.meant ?? [])].reduce((text, [named, here]) => text.replaceAll(named, here), said);
    const inherited = Object.entries(process.env).filter(([key]) => !/^(CAUSEWAY_|NO_COLOR|FORCE_COLOR)/.test(key));
    const PATH = `${this.root}:${process.env['PATH']}`;
    const child = spawn('sh', ['-c', `exec 2>&1\n${command}`], {
      cwd: this.folder,
      env: {
        ...Object.fromEntries(inherited),
        PATH,
        HOME: this.root,
        CAUSEWAY_SERVER: server,
        CAUSEWAY_TOKEN: ADMIN_TOKEN,
        ...this.options.env,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (output += text));
    const ended = new Promise<number | null>((done) => child.once('close', done));
    return { child, output: () => this.readable(output), ended };
  }

  private readable(output: string): string {
    const here: [string, string][] = [...this.shown, [this.root, '~']];
    return here.reduce((text, [mine, shown]) => text.replaceAll(mine, shown), output);
  }
}
