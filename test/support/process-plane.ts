import { fork, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ADMIN_SETTINGS, adminFetch } from './admin-credential';
import { programToStart, programTree, selectKnownSettings } from './built-programs';
import { until } from './until';

/** A control plane that starts beside many others on a busy machine takes its time, ms. */
export const START_TIMEOUT = 240_000;

/** Addresses that a control plane reported. */
interface Doors {
  rest?: string;
  diagnostics?: string;
  grpc?: string;
  kds?: string;
  dns?: readonly string[];
  xds?: string;
}

/** A key that seals the secrets of zones of tests. */
export const TEST_SECRETS_KEY = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/** Settings of a control plane by their environment variable. */
export type PlaneEnvironment = Readonly<Record<string, string>>;

/** A control plane as a process of its own, built from `dist/` of a tree; every port is free unless `env` says otherwise. */
export class ProcessPlane {
  private readonly doors: Doors = {};
  private readonly child: ChildProcess;
  /** The last lines it logged, for messages. */
  readonly lastLines: string[] = [];
  /** The first ones: what it says of its settings. */
  readonly firstLines: string[] = [];
  /** Resolves when it has ended, whoever ended it. */
  readonly exited: Promise<void>;
  private alive = true;

  private constructor(
    readonly app: 'global' | 'zone',
    readonly name: string,
    env: PlaneEnvironment,
    tree: string,
  ) {
    const inherited = Object.entries(process.env).filter(([key]) => !/^(CAUSEWAY_|DATABASE_URL|REDIS_URL)/.test(key));
    const ports = {
      CAUSEWAY_REST_PORT: '0',
      CAUSEWAY_GRPC_PORT: '0',
      CAUSEWAY_DIAGNOSTICS_PORT: '0',
      LOG_LEVEL: 'info',
      CAUSEWAY_ADMIN_TOKEN_FILE: 'off',
      ...ADMIN_SETTINGS,
    };
    const own =
      app === 'global'
        ? { CAUSEWAY_KDS_PORT: '0' }
        : {
            CAUSEWAY_DNS_PORT: '0',
            CAUSEWAY_XDS_PORT: '0',
            CAUSEWAY_ZONE_NAME: name,
            CAUSEWAY_SECRETS_KEY: TEST_SECRETS_KEY,
          };
    this.child = fork(programToStart(app, tree), {
      cwd: tree,
      env: selectKnownSettings({ ...Object.fromEntries(inherited), ...ports, ...own, ...env }, tree),
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    // When all that it said is read.
    this.exited = new Promise((done) =>
      this.child.once('close', () => {
        this.alive = false;
        done();
      }),
    );
    for (const stream of [this.child.stdout, this.child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.hear(line));
    }
  }

  /** Starts one and resolves when it is ready; `tree` is the one that its program was built in. */
  static async start(
    app: 'global' | 'zone',
    name: string,
    env: PlaneEnvironment,
    tree: string = programTree(),
  ): Promise<ProcessPlane> {
    const plane = new ProcessPlane(app, name, env, tree);
    try {
      await plane.untilReady();
    } catch (error) {
      await plane.stop();
      throw error;
    }
    return plane;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get restUrl(): string {
    return this.doors.rest ?? '';
  }

  get diagnosticsUrl(): string {
    return this.doors.diagnostics ?? '';
  }

  /** Address of the gRPC API, as `grpc://host:port`. */
  get grpcUrl(): string {
    return this.doors.grpc ?? '';
  }

  /** Address where zones connect, as `host:port`. */
  get kdsAddress(): string {
    return this.doors.kds ?? '';
  }

  /** Address of the zone's DNS, as `host:port`. */
  get dnsAddress(): string {
    return this.doors.dns?.[0] ?? '';
  }

  /** Address where the zone's proxies connect, as `host:port`. */
  get xdsAddress(): string {
    return this.doors.xds ?? '';
  }

  async untilReady(): Promise<void> {
    await until(
      `${this.app} ${this.name} is ready`,
      async () => {
        if (!this.alive) throw new Error(`${this.app} ${this.name} ended:\n${this.lastLines.join('\n')}`);
        if (this.doors.rest === undefined || (this.app === 'global' && this.doors.kds === undefined)) return false;
        return fetch(`${this.diagnosticsUrl}/ready`).then(
          (answer) => answer.ok,
          () => false,
        );
      },
      START_TIMEOUT,
    );
  }

  /** A request of an administrator. */
  fetch(path: string, init?: RequestInit): Promise<Response> {
    return adminFetch(this.restUrl + path, init);
  }

  /** JSON of a GET, or undefined when the answer is an error or nobody answers. */
  async get(path: string): Promise<Record<string, unknown> | undefined> {
    try {
      const answer = await this.fetch(path);
      return answer.ok ? ((await answer.json()) as Record<string, unknown>) : undefined;
    } catch {
      return undefined;
    }
  }

  /** A figure of it, summed over its labels; rejects where it has none of this name. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.diagnosticsUrl}/metrics`)).text();
    const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))];
    if (values.length === 0) throw new Error(`no metric ${name}`);
    return values.reduce((sum, [, value]) => sum + Number(value), 0);
  }

  /** Text of an answer; rejects with what the control plane says against it. */
  async text(path: string, body?: unknown): Promise<string> {
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await this.fetch(path, body === undefined ? {} : post);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${this.name} answered ${answer.status} to ${path}: ${text}`);
    return text;
  }

  /** Status of a PUT; rejects when nobody answers. */
  async put(path: string, body: unknown): Promise<number> {
    const answer = await this.fetch(path, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  /** Status of a DELETE. */
  async delete(path: string): Promise<number> {
    const answer = await this.fetch(path, { method: 'DELETE' });
    await answer.arrayBuffer();
    return answer.status;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  /** Ends it as an operator does. */
  async stop(): Promise<void> {
    if (!this.alive) return;
    this.child.kill('SIGCONT');
    this.child.kill('SIGTERM');
    await this.exited;
  }

  private hear(line: string): void {
    if (this.firstLines.length < 20) this.firstLines.push(line);
    this.lastLines.push(line);
    if (this.lastLines.length > 20) this.lastLines.shift();
    if (!line.startsWith('{')) return;
    const { rest, grpc, diagnostics, kds, dns, xds } = JSON.parse(line) as Doors;
    Object.assign(this.doors, JSON.parse(JSON.stringify({ rest, grpc, diagnostics, kds, dns, xds })));
  }
}
