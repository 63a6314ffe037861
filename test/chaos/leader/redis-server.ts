import { spawn, type ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { createClient } from '@redis/client';
import { freePort } from '../../../scripts/lib/ports.mjs';
import { until } from '../../support/until';

/** Options of a server, besides its port. */
export interface RedisServerOptions {
  readonly port?: number;
  readonly mode?: 'server' | 'sentinel';
  /** A file of settings, which a Sentinel writes to. */
  readonly file?: string;
  /** The folder where it runs and writes. */
  readonly folder?: string;
  readonly more?: readonly string[];
  /** It takes TLS only, and speaks it to the others of its kind. */
  readonly tls?: RedisTls;
}

/** Files in PEM of a server that takes TLS, and the certificate of who signed them. */
export interface RedisTls {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly authorityFile: string;
  readonly authority: string;
}

const READY = { server: /Ready to accept connections/, sentinel: /monitor master/ };

/** A Redis of one test, on a fixed port: it can be killed, started again, and wiped. Its settings are in a file; with `mode` it is a Sentinel. */
export class RedisServer {
  private child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly options: RedisServerOptions,
  ) {}

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(options.port ?? (await freePort()), options);
    await server.start();
    return server;
  }

  get url(): string {
    return `${this.options.tls ? 'rediss' : 'redis'}://127.0.0.1:${this.port}`;
  }

  /** Starts it again, empty; tries again where a former one still holds the port. */
  async start(): Promise<void> {
    await until(`redis-server listens on ${this.port}`, () => this.startOnce());
  }

  private startOnce(): Promise<boolean> {
    const { file, folder = tmpdir(), mode = 'server', more = [], tls } = this.options;
    const own = mode === 'sentinel' ? ['--sentinel'] : ['--save', '', '--appendonly', 'no'];
    const door = tls
      ? ['--port', '0', '--tls-port', String(this.port), ...tlsOptions(tls)]
      : ['--port', String(this.port)];
    const options = [...(file ? [file] : []), ...door, '--bind', '127.0.0.1', ...own, ...more];
    const child = spawn('redis-server', options, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    this.child = child;
    return new Promise<boolean>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => resolve(false));
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (READY[mode].test(line)) resolve(true);
      });
    });
  }

  /** Ends it as a crash would, with all that it held. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** Connections stay open and nothing answers, as behind a network that drops packets. */
  pause(): void {
    this.child?.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  async wipe(): Promise<void> {
    await this.ask(['FLUSHALL']);
  }

  /** The answer to one command, on a connection of its own; `credentials` as a URL has them before its host, `database` as after it. */
  async ask(command: string[], credentials = '', database = 0): Promise<unknown> {
    const { tls } = this.options;
    const url = `${this.url.replace('://', `://${credentials}`)}/${database}`;
    const client = createClient({ url, ...(tls && { socket: { tls: true, ca: tls.authority } }) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await client.sendCommand(command);
    } finally {
      client.destroy();
    }
  }
}

function tlsOptions({ certificateFile, keyFile, authorityFile }: RedisTls): readonly string[] {
  const files = ['--tls-cert-file', certificateFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', authorityFile];
  return [...files, '--tls-auth-clients', 'no', '--tls-replication', 'yes', '--tls-cluster', 'yes'];
}
