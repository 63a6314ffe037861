import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { Backoff, errorText, type Clock, type Logger } from '@causeway/runtime';
import { envoyBootstrap } from '@causeway/xds-translation';
import type { Plane, PlaneState } from '../plane';
import type { CacheChange, ResourceReader } from '../resources/resource-reader';
import type { EnvoyProgram } from './envoy-program';
import { KeptProcess } from './kept-process';
import type { LocalXdsServer } from './local-xds-server';

export interface EnvoyPlaneOptions {
  readonly program: EnvoyProgram;
  readonly concurrency: number;
  /** Maximum number of simultaneous connections; unbounded if absent. */
  readonly connections?: number;
  /** Node id and cluster of its proxy. */
  readonly id: string;
  readonly cluster: string;
  /** Folder with the admin socket: used by this plane only, accessible to this user only. */
  readonly folder: string;
  readonly cache: ResourceReader;
  readonly xds: LocalXdsServer;
  readonly clock: Clock;
  readonly logger: Logger;
}

const RESTART = { base: 200, cap: 30_000 };
/** After this run time the restart backoff starts over, ms. */
const STABLE_RUN_TIME = 60_000;
/** Timeout for Envoy to end after SIGTERM, ms. */
const TIMEOUT = 5_000;
const ADMIN_TIMEOUT = 2_000;
const DRAIN_POLL_INTERVAL = 100;
const READY_POLL_INTERVAL = 250;

/** An Envoy configured entirely by the local xDS server: started, monitored, restarted, drained. */
export class EnvoyPlane implements Plane {
  readonly type = 'envoy';
  private current: PlaneState;
  private process: KeptProcess | undefined;
  private supervision: Promise<void> = Promise.resolve();
  private readonly ending = new AbortController();

  constructor(private readonly options: EnvoyPlaneOptions) {
    this.current = { type: 'starting', since: options.clock.now(), version: options.program.version };
  }

  get state(): PlaneState {
    return this.current;
  }

  /** Process id, for status; undefined while Envoy does not run. */
  get pid(): number | undefined {
    return this.process?.isAlive === true ? this.process.pid : undefined;
  }

  async start(): Promise<void> {
    const { id, cache, xds, folder } = this.options;
    xds.serve(id, cache);
    await writeFile(join(folder, 'envoy.json'), JSON.stringify(this.bootstrap(), null, 1), { mode: 0o600 });
    this.supervision = this.supervise();
  }

  /** Resolves at once while Envoy does not run: it starts with the current content of the cache. */
  take(change: CacheChange): Promise<string | undefined> {
    const { id, xds } = this.options;
    return this.process?.isAlive === true ? xds.waitForAck(id, change) : Promise.resolve(undefined);
  }

  async stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    if (this.ending.signal.aborted) return this.supervision;
    this.become('draining');
    this.ending.abort();
    if (this.process?.isAlive === true) {
      await this.drain(drainMs);
      await this.process.end(TIMEOUT);
    }
    await this.supervision;
    this.options.xds.forget(this.options.id);
    this.become('stopped');
  }

  private get adminPath(): string {
    return join(this.options.folder, 'admin.sock');
  }

  private bootstrap(): object {
    const { id, cluster, xds, connections } = this.options;
    return envoyBootstrap({
      node: { id, cluster, metadata: {} },
      controlPlanes: { path: xds.path },
      protocol: 'delta',
      admin: { path: this.adminPath },
      ...(connections !== undefined && { connections }),
    });
  }

  private async supervise(): Promise<void> {
    const { clock, logger, id, xds } = this.options;
    const { signal } = this.ending;
    const backoff = new Backoff(RESTART);
    while (!signal.aborted) {
      const began = clock.elapsed();
      const reason = await this.runOnce().catch((error: unknown) => errorText(error));
      this.process = undefined;
      xds.release(id);
      if (signal.aborted) return;
      if (clock.elapsed() - began > STABLE_RUN_TIME) backoff.reset();
      this.become('failed', reason);
      logger.error('the proxy has ended and is started again', { proxy: id, reason });
      await clock.sleep(backoff.next(), signal);
    }
  }

  /** Resolves with how the process ended. */
  private async runOnce(): Promise<string> {
    const { program, folder, clock, logger, id, concurrency } = this.options;
    const bootstrapFile = join(folder, 'envoy.json');
    const more = ['--use-dynamic-base-id', '--log-level', 'warning', '--drain-time-s', '1'];
    const args = ['-c', bootstrapFile, '--concurrency', String(concurrency), ...more];
    const facts = [program.path, program.version, args, this.bootstrap()];
    const fingerprint = createHash('sha256').update(JSON.stringify(facts)).digest('hex');
    const place = { command: program.path, args, file: join(folder, 'envoy.pid'), log: join(folder, 'envoy.log') };
    const kept = await KeptProcess.start({ ...place, fingerprint, clock, logger });
    this.process = kept;
    if (this.ending.signal.aborted) await kept.end(TIMEOUT);
    logger.info(kept.isFound ? 'the proxy of an earlier run is kept' : 'the proxy is started', {
      proxy: id,
      pid: kept.pid,
      version: program.version,
    });
    if (!kept.isFound) this.become('starting');
    void this.untilReady(kept);
    return kept.ended;
  }

  private async untilReady(process: KeptProcess): Promise<void> {
    const { clock } = this.options;
    while (process.isAlive && !this.ending.signal.aborted) {
      const answer = await this.ask('GET', '/ready').catch(() => '');
      if (answer.startsWith('LIVE')) return this.become('serving');
      await clock.sleep(READY_POLL_INTERVAL, this.ending.signal);
    }
  }

  /** Refuses new connections; resolves when the open ones have ended, or after `drainMs`. */
  private async drain(drainMs: number): Promise<void> {
    const { clock, logger, id } = this.options;
    const end = clock.elapsed() + drainMs;
    try {
      await this.ask('POST', '/healthcheck/fail');
      await this.ask('POST', '/drain_listeners?graceful');
      while (clock.elapsed() < end && (await this.countConnections()) > 0) await clock.sleep(DRAIN_POLL_INTERVAL);
    } catch (error) {
      logger.warn('the proxy cannot be drained', { proxy: id, reason: errorText(error) });
    }
  }

  /** Counts open connections except those to the admin interface. */
  private async countConnections(): Promise<number> {
    const text = await this.ask('GET', '/stats?filter=^listener\\..*downstream_cx_active$');
    const active = [...text.matchAll(/^(.+): (\d+)$/gm)].filter(([, name]) => !name?.startsWith('listener.admin'));
    return active.reduce((sum, [, , count]) => sum + Number(count), 0);
  }

  /** Returns Envoy's Prometheus metrics; rejects if it does not answer. */
  metrics(): Promise<string> {
    return this.ask('GET', '/stats/prometheus?usedonly');
  }

  private ask(method: 'GET' | 'POST', path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath: this.adminPath, method, path, timeout: ADMIN_TIMEOUT }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('end', () => resolve(text));
        answer.on('error', reject);
      });
      asked.on('timeout', () => asked.destroy(new Error('Envoy does not answer in time')));
      asked.on('error', reject);
      asked.end();
    });
  }

  private become(type: PlaneState['type'], reason?: string): void {
    const { clock, program } = this.options;
    this.current = { type, since: clock.now(), version: program.version, ...(reason !== undefined && { reason }) };
  }
}
